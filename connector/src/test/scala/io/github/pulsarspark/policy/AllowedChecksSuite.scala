package io.github.pulsarspark.policy

import io.github.pulsarspark.UnitSuite

final class AllowedChecksSuite extends UnitSuite with PolicyRules {

  test("switching checks of certificates off needs its setting") {
    refused("insecure")(AllowedChecks.checkInsecure(shared(), "x.option"))
    AllowedChecks.checkInsecure(shared("insecure" -> "true"), "x.option")
  }
}
