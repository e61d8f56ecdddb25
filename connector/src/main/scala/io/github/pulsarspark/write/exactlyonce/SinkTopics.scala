package io.github.pulsarspark.write.exactlyonce

/** The names of the topics with the state of a sink. */
private[write] final case class SinkTopics(log: String, open: String, mark: String)

private[write] object SinkTopics {
  def apply(namespace: String, sinkId: String): SinkTopics = {
    val start = s"persistent://$namespace/pulsar-spark-sink-$sinkId"
    SinkTopics(s"$start-log", s"$start-open", s"$start-mark")
  }
}
