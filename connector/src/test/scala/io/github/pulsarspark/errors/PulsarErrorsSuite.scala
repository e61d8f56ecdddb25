package io.github.pulsarspark.errors

import munit.FunSuite

class PulsarErrorsSuite extends FunSuite {

  test("every condition has a name, a kind, a message and what to do") {
    PulsarErrors.conditions.values.foreach { c =>
      assert(c.name.matches("PULSAR_[A-Z0-9_]+"), c.name)
      assert(Set("input", "runtime")(c.kind), s"${c.name}: ${c.kind}")
      assert(c.message.endsWith("."), s"${c.name}: ${c.message}")
      assert(c.action.endsWith("."), s"${c.name}: ${c.action}")
    }
  }

  test("an input condition is an IllegalArgumentException, a runtime condition is not") {
    val input   = PulsarErrors("PULSAR_OPTION_CONFLICT", "first" -> "topic", "second" -> "topics")
    val runtime = PulsarErrors("PULSAR_INTERNAL", "what" -> "x", "where" -> "y")
    assert(input.isInstanceOf[IllegalArgumentException])
    assert(!runtime.isInstanceOf[IllegalArgumentException])
  }

  test("the text names the condition, the values and what to do; Spark sees condition and parameters") {
    val e = PulsarErrors("PULSAR_OPTION_CONFLICT", "first" -> "topic", "second" -> "topics")
    assertEquals(e.getMessage,
      "[PULSAR_OPTION_CONFLICT] Options `topic` and `topics` exclude each other. What to do: Give one of them.")
    assertEquals(e.getCondition, "PULSAR_OPTION_CONFLICT")
    assertEquals(e.getMessageParameters.get("second"), "topics")
  }

  test("values with regular expression characters are taken as they are") {
    val e = PulsarErrors("PULSAR_OPTION_CONFLICT", "first" -> "a$1\\b", "second" -> "{x}")
    assert(e.getMessage.contains("`a$1\\b` and `{x}`"), e.getMessage)
  }

  test("a missing parameter and an unlisted condition fail") {
    intercept[RuntimeException](PulsarErrors("PULSAR_OPTION_CONFLICT", "first" -> "topic"))
    intercept[RuntimeException](PulsarErrors("PULSAR_NO_SUCH_CONDITION"))
  }

  test("data loss fails, or is counted") {
    val e = intercept[PulsarException](new DataLossPolicy(failOnDataLoss = true).report("t", "1:2", "1:9", "trimmed"))
    assertEquals(e.condition, "PULSAR_DATA_LOSS")
    assert(e.getMessage.contains("Topic t: messages after position 1:2 up to 1:9 are gone: trimmed."), e.getMessage)
    val lenient = new DataLossPolicy(failOnDataLoss = false)
    lenient.report("t", "1:2", "1:9", "trimmed")
    lenient.report("t", "1:2", "1:9", "trimmed")
    assertEquals(lenient.lostRanges, 2L)
  }
}
