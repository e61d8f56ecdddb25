package io.github.pulsarspark.metrics

/** The names of what the progress of a stream says of messages that are left to read. All are texts; a number that is
  * not known is [[BacklogMetric.Unknown]].
  */
private[pulsarspark] object BacklogMetric {

  /** Text for an unknown figure. It is not 0, which means that a stream has read everything. */
  val Unknown = "unknown"

  val partitionsBehind = "pulsarPartitionsBehind"

  /** The topic partition that is furthest behind; missing if none is. The names of its figures have this prefix. */
  val worstPartition = "pulsarWorstPartition"

  /** Prefix of the figures of all topic partitions together. */
  val backlog = "pulsarBacklog"

  // What is counted: the ends of names.
  val entries  = "Entries"
  val messages = "MessagesEstimate"
  val bytes    = "BytesEstimate"
  val age      = "Ms"
}
