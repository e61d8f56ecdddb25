package io.github.pulsarspark.pulsar.topics

/** Names of the control topics of exactly-once writes, which hold the state of a sink and no data. */
private[pulsarspark] object SinkTopicNames {

  /** Prefix of the name of each control topic; the id of its sink follows. */
  val Prefix: String = "pulsar-spark-sink-"

  val Log: String  = "-log"
  val Open: String = "-open"
  val Mark: String = "-mark"

  /** A pattern of all logs in a namespace. */
  def logs(namespace: String): String = s"$namespace/$Prefix.*$Log"

  /** The sink whose log this is. */
  def sinkOf(log: String): String = log.drop(log.lastIndexOf('/') + 1).stripPrefix(Prefix).stripSuffix(Log)

  /** True if a topic of this local name is a control topic. */
  def includes(localName: String): Boolean =
    localName.startsWith(Prefix) && Seq(Log, Open, Mark).exists(localName.endsWith)
}
