package io.github.pulsarspark.metrics

/** Names of the figures about unread messages in the progress of a stream. All values are texts; an unknown number is
  * [[BacklogMetric.Unknown]].
  */
private[pulsarspark] object BacklogMetric {

  /** Text for an unknown figure. It is not 0, which means that a stream has read everything. */
  val Unknown = "unknown"

  val partitionsBehind = "pulsarPartitionsBehind"

  /** The topic partition that is furthest behind; missing if none is. The names of its figures have this prefix. */
  val worstPartition = "pulsarWorstPartition"

  /** Prefix of the figures of all topic partitions together. */
  val backlog = "pulsarBacklog"

  // suffixes of names: the unit that is counted
  val entries  = "Entries"
  val messages = "MessagesEstimate"
  val bytes    = "BytesEstimate"
  val age      = "Ms"
}
