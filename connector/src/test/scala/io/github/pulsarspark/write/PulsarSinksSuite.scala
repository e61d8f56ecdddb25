package io.github.pulsarspark.write

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.errors.PulsarError

/** Repairs of sinks as callers outside of this JVM ask for them, and their answers, by [[PulsarSinks]]. */
class PulsarSinksSuite extends WriteSuite {

  private def repair(torn: String, isLast: Boolean, more: (String, String)*) = PulsarSinks.repair(
    Map("service.url" -> cluster.serviceUrl, "sinkId" -> "s", "sinkNamespace" -> "public/default") ++ more,
    torn,
    7,
    isLast
  )

  test("a log without a record: nothing was aborted, and nothing removed, also if nobody will write again") {
    store("pulsar-spark-sink-s-log")
    for (isLast <- Seq(true, false))
      assertEquals(repair("", isLast).toString, """{"sink":"s","nonce":null,"aborted":0,"removed":false}""")
  }

  test("a sink that does not exist is an error, and so is a word for a torn epoch that is none") {
    assertEquals(condition(repair("lost", isLast = false, "sinkId" -> "nobody")), "PULSAR_SINK_STATE")
    val e = intercept[RuntimeException with PulsarError](repair("found", isLast = false))
    assertEquals((e.condition, e.parameters("option"), e.parameters("value")),
      ("PULSAR_OPTION_INVALID", "torn", "found"))
  }
}
