package io.github.pulsarspark.pulsar.topics

/** The topics of a namespace that match a pattern.
  *
  * @param partitions
  *   full name of each topic that matches, with the full names of its existing partitions
  * @param all
  *   full names of all topics of the namespace, without Pulsar's internal ones
  */
private[pulsarspark] final case class MatchingTopics(partitions: Map[String, Seq[String]], all: Seq[String])
