package io.github.pulsarspark.policy

import munit.FunSuite

final class AllowedChecksSuite extends FunSuite with PolicyRules {

  test("switching checks of certificates off needs its setting") {
    refused("insecure")(AllowedChecks.checkInsecure(shared(), "x.option"))
    AllowedChecks.checkInsecure(shared("insecure" -> "true"), "x.option")
  }
}
