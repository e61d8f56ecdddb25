package io.github.pulsarspark.inspect.state

/** One fact that a checkpoint keeps.
  *
  * @param source
  *   number or name of the source; None for the query as a whole
  * @param kind
  *   who wrote the offsets of the source
  * @param record
  *   `query`, `start`, `committed`, `planned`, `time`, `loss`, `sink` or `damaged`
  * @param batch
  *   number of the micro-batch
  * @param topic
  *   full name of a topic partition
  * @param position
  *   up to and including which it is read
  */
private[state] final case class CheckpointFact(
    record: String,
    source: Option[String] = None,
    kind: Option[String] = None,
    batch: Option[Long] = None,
    topic: Option[String] = None,
    position: Option[String] = None,
    detail: Option[String] = None
)
