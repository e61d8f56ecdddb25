package io.github.pulsarspark.pulsar.connection

import io.github.pulsarspark.fuzz.TextFuzzTarget

/** Settings of the Pulsar client, as options give them; the first character selects their prefix. */
object SettingsFuzz extends TextFuzzTarget {
  private val prefixes = Seq("pulsar.client.", "pulsar.reader.", "pulsar.producer.")

  override def texts: Seq[String] = Seq(
    "0operationTimeoutMs=7",
    "1receiverQueueSize=9",
    "2properties={\"a\": \"b\"}",
    "2compressionType=LZ4"
  )

  override def decode(text: String): Any = {
    val prefix   = prefixes(text.headOption.fold(0)(_ % prefixes.size))
    val settings = text.drop(1).linesIterator.map(_.split("=", 2)).collect { case Array(key, value) =>
      key -> value
    }.toMap
    ClientSettings.typed(prefix, settings.filter(s => ClientSettings.fields(prefix).contains(s._1)))
  }
}
