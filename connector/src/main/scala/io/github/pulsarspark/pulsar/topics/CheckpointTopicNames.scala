package io.github.pulsarspark.pulsar.topics

/** Names of the topics of checkpoint stores, which hold records of files and no data. */
private[pulsarspark] object CheckpointTopicNames {

  /** Prefix of the name of each; the name of the store follows. */
  val Prefix: String = "pulsar-spark-checkpoint-"

  def of(tenant: String, namespace: String, store: String): String =
    TopicNames.of(tenant, namespace, s"$Prefix$store")
}
