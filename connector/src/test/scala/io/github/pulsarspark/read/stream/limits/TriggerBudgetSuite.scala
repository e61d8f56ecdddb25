package io.github.pulsarspark.read.stream.limits

import org.apache.spark.sql.connector.read.streaming.ReadLimit

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.options.TriggerLimits
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}

class TriggerBudgetSuite extends UnitSuite {

  private def limits(options: (String, String)*) = TriggerLimits(
    CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t") ++ options, Scope.StreamRead, _ => Nil)
  )

  private def budget(options: (String, String)*) = TriggerBudget.of(TriggerBudget.readLimit(limits(options: _*)))

  test("options become the limit that Spark hands back") {
    assertEquals(TriggerBudget.readLimit(limits()), ReadLimit.allAvailable())
    assert(budget().isUnlimited)
    assertEquals(budget("maxMessagesPerTrigger" -> "10"), TriggerBudget(rows = Some(10)))
    assertEquals(budget("maxBytesPerTrigger" -> "2k"), TriggerBudget(bytes = Some(2048)))
    assert(budget("maxBytesPerTrigger" -> "0").isUnlimited)
    assertEquals(budget("minMessagesPerTrigger" -> "5"), TriggerBudget(minimum = Some((5, 900000))))
    assertEquals(
      budget("maxMessagesPerTrigger" -> "5", "maxBytesPerTrigger" -> "1g", "minMessagesPerTrigger" -> "5",
        "maxTriggerDelay"            -> "30 S"),
      TriggerBudget(Some(5), Some(1L << 30), Some((5, 30000)))
    )
  }

  test("a delay with a unit, its milliseconds") {
    Seq("7" -> 7, "7ms" -> 7, "7s" -> 7000, "7m" -> 420000, "7 min" -> 420000, "1h" -> 3600000, "1d" -> 86400000)
      .foreach { case (text, millis) =>
        assertEquals(limits("minMessagesPerTrigger" -> "1", "maxTriggerDelay" -> text).maxDelay.toMillis, millis.toLong)
      }
  }

  test("Spark's limits are combined to the strictest; unknown kinds limit nothing; a row is the least") {
    val inner = ReadLimit.compositeLimit(Array(ReadLimit.maxRows(7), ReadLimit.maxBytes(100), ReadLimit.minRows(3, 50)))
    val all   = Array(ReadLimit.maxRows(9), inner, ReadLimit.maxFiles(1), ReadLimit.minRows(2, 40))
    assertEquals(TriggerBudget.of(ReadLimit.compositeLimit(all)), TriggerBudget(Some(7), Some(100), Some((3, 40))))
    assert(TriggerBudget.of(ReadLimit.maxFiles(1)).isUnlimited)
    assert(TriggerBudget.of(new ReadLimit {}).isUnlimited)
    assertEquals(TriggerBudget.of(ReadLimit.maxRows(0)), TriggerBudget(rows = Some(1)))
  }

  private val wrong = Seq(
    Seq("maxMessagesPerTrigger" -> "0")                                   -> "at least 1",
    Seq("maxMessagesPerTrigger" -> "-3")                                  -> "at least 1",
    Seq("maxMessagesPerTrigger" -> "many")                                -> "a whole number",
    Seq("maxBytesPerTrigger" -> "-1")                                     -> "a number of bytes",
    Seq("maxBytesPerTrigger" -> "lots")                                   -> "as `16m`",
    Seq("minMessagesPerTrigger" -> "0")                                   -> "at least 1",
    Seq("minMessagesPerTrigger" -> "2", "maxTriggerDelay" -> "soon")      -> "such as `500ms`",
    Seq("minMessagesPerTrigger" -> "2", "maxTriggerDelay" -> "-1s")       -> "such as `500ms`",
    Seq("minMessagesPerTrigger" -> "11", "maxMessagesPerTrigger" -> "10") ->
      "at most `maxMessagesPerTrigger`, which is 10",
    Seq("maxTriggerDelay" -> "1s") -> "requires `minMessagesPerTrigger`"
  )

  wrong.foreach { case (options, text) =>
    test(s"${options.map { case (k, v) => s"$k=$v" }.mkString(", ")} is an error") {
      val error = intercept[IllegalArgumentException with PulsarError](limits(options: _*))
      assert(error.getMessage.contains(text), error.getMessage)
    }
  }

  test("a limit per trigger in a batch read, PULSAR_OPTION_WRONG_MODE") {
    val options = Map("service.url" -> "pulsar://h:1", "topic" -> "t", "maxMessagesPerTrigger" -> "5")
    val error   =
      intercept[IllegalArgumentException with PulsarError](CheckedOptions(options, Scope.BatchRead, _ => Nil))
    assertEquals(error.condition, "PULSAR_OPTION_WRONG_MODE")
  }
}
