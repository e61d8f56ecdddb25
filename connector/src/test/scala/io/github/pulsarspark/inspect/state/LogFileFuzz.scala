package io.github.pulsarspark.inspect.state

import io.github.pulsarspark.fuzz.TextFuzzTarget

/** Files of the logs of a streaming query, in a checkpoint. */
object LogFileFuzz extends TextFuzzTarget {
  override def texts: Seq[String] = Seq(
    "v1\n{\"batchTimestampMs\":1700000000000}\n{\"version\":2,\"positions\":{}}\n-",
    "v2\n{\"batchTimestampMs\":1700000000000}\nname:{\"version\":2,\"positions\":{}}",
    "v1\n{\"nextBatchWatermarkMs\":0}"
  )

  override def decode(text: String): Any = LogFile.parse(text)
}
