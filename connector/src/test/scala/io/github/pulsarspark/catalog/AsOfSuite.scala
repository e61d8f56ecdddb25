package io.github.pulsarspark.catalog

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class AsOfSuite extends UnitSuite {

  test("a time is cut to milliseconds, towards the past") {
    assertEquals(AsOf.time(1999L, "t", 10).option, "endingTime"  -> "1")
    assertEquals(AsOf.time(-1L, "t", 10).option, "endingTime"    -> "-1")
    assertEquals(AsOf.time(10000L, "t", 10).option, "endingTime" -> "10")
  }

  test("a time to come is refused") {
    val error = intercept[PulsarInputException with PulsarError](AsOf.time(11000L, "t", 10))
    assertEquals(error.condition, "PULSAR_TIME_TRAVEL")
    assert(error.getMessage.contains("`TIMESTAMP AS OF` of t"), error.getMessage)
  }

  test("a version is the text of an end") {
    assertEquals(AsOf.Version("12:34").option, "endingOffsets" -> "12:34")
  }
}
