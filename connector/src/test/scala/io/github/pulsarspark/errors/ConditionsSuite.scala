package io.github.pulsarspark.errors

import io.github.pulsarspark.UnitSuite

class ConditionsSuite extends UnitSuite {

  test("every condition has a name, a SQLSTATE, a kind, a message and what to do") {
    assert(Conditions.all.size > 70, Conditions.all.size)
    Conditions.all.foreach { c =>
      assert(c.name.matches(raw"PULSAR_[A-Z0-9_]+(\.[A-Z0-9_]+)?"), c.name)
      assert(c.sqlState.matches("[0-9A-Z]{5}"), s"${c.name}: ${c.sqlState}")
      assert(Set("input", "runtime")(c.kind), s"${c.name}: ${c.kind}")
      assert(c.message.endsWith("."), s"${c.name}: ${c.message}")
      assert(c.action.endsWith("."), s"${c.name}: ${c.action}")
    }
  }

  test("an input condition is an IllegalArgumentException, a runtime condition is not") {
    val input   = Conditions.OptionConflict(first = "topic", second = "topics").exception
    val runtime = Conditions.Internal(what = "x", where = "y").exception
    assert(input.isInstanceOf[IllegalArgumentException])
    assert(!runtime.isInstanceOf[IllegalArgumentException])
  }

  test("the text names the condition, the values and what to do; Spark sees condition, SQLSTATE and parameters") {
    val e = Conditions.OptionConflict(first = "topic", second = "topics").exception
    assertEquals(e.getMessage,
      "[PULSAR_OPTION_CONFLICT] Options `topic` and `topics` cannot be combined. What to do: Set only one of them.")
    assertEquals(e.getCondition, "PULSAR_OPTION_CONFLICT")
    assertEquals(e.getSqlState, "42613")
    assertEquals(e.getMessageParameters.get("second"), "topics")
  }

  test("values with regular expression characters are taken as they are") {
    val e = Conditions.OptionConflict(first = "a$1\\b", second = "{x}").exception
    assert(e.getMessage.contains("`a$1\\b` and `{x}`"), e.getMessage)
  }

  test("an exception of a condition with a cause, which it keeps") {
    val cause = new IllegalStateException("x")
    assertEquals(Conditions.Internal(what = "x", where = "y").causedBy(cause).getCause, cause: Throwable)
  }

  test("a condition is recognized by its name alone") {
    val e = Conditions.OptionConflict(first = "topic", second = "topics").exception
    assert(Conditions.OptionConflict.is(e))
    assert(!Conditions.OptionMissing.is(e))
    assert(!Conditions.OptionConflict.is(new IllegalArgumentException(e.getMessage)))
  }

  test("data loss fails, or is counted") {
    val trimmed = Conditions.DataLossTrimmed(topic = "t", from = "1:2", to = "1:9", reason = "trimmed")
    val e       = intercept[PulsarException](new DataLossPolicy(failOnDataLoss = true).report(trimmed))
    assertEquals(e.condition, "PULSAR_DATA_LOSS.TRIMMED")
    assert(e.getMessage.contains("Topic t: messages after position 1:2 up to 1:9 are gone: trimmed."), e.getMessage)
    val lenient = new DataLossPolicy(failOnDataLoss = false)
    (1 to LostRanges.MaxKept + 1).foreach(_ => lenient.report(trimmed))
    assertEquals(lenient.lost.count, LostRanges.MaxKept + 1L)
    assertEquals(lenient.lost.newest.size, LostRanges.MaxKept)
    val one = """{"condition":"PULSAR_DATA_LOSS.TRIMMED","from":"1:2","reason":"trimmed","to":"1:9","topic":"t"}"""
    assertEquals((LostRanges.none + trimmed).json, s"[$one]")
  }
}
