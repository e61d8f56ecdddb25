package io.github.pulsarspark.pulsar.topics

/** Names of the topics of checkpoint stores, which hold records of files and no data. */
private[pulsarspark] object CheckpointTopicNames {

  /** Prefix of the name of each; the name of the store follows. */
  val Prefix: String = "pulsar-spark-checkpoint-"

  /** End of the name of the topic with contents of files that are apart from the log of their store. */
  val ContentSuffix: String = "-content"

  def of(tenant: String, namespace: String, store: String): String =
    TopicNames.of(tenant, namespace, s"$Prefix$store")

  /** The topic with the contents of the store that has this topic. */
  def content(topic: String): String = topic + ContentSuffix
}
