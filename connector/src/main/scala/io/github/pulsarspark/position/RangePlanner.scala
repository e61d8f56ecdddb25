package io.github.pulsarspark.position

import io.github.pulsarspark.errors.Conditions

/** The ends of a topic partition, as the cluster reports them at one moment.
  *
  * @param first
  *   the position before the first message
  * @param last
  *   the last readable message, as a whole entry; the same as `first` without messages
  * @param emptyAfter
  *   a position before `first` with no message between the two, ever
  * @param compactedBefore
  *   in the compacted view, the position before which only the messages that compaction kept remain
  */
final case class PartitionBounds(
    first: Position,
    last: Position,
    emptyAfter: Option[Position] = None,
    compactedBefore: Option[Position] = None
)

/** Turns requested bounds into ranges of positions. Pure. */
private[pulsarspark] object RangePlanner {

  /** One spec for every partition, by the names of partitions or of their topics. Every name must be that of a topic or
    * partition of the read.
    *
    * @param partitions
    *   full name of each topic with the full names of its partitions
    * @param fullName
    *   the full form of a topic name as the user wrote it
    * @param mayBeMissing
    *   whether the read may start without the topic or partition of this full name
    */
  def assign(
      bound: BoundSpec,
      partitions: Map[String, Seq[String]],
      fullName: String => String,
      nearest: (String, Seq[String]) => Option[String],
      mayBeMissing: String => Boolean
  ): Map[String, PositionSpec] =
    bound match {
      case BoundSpec.Everywhere(option, spec) =>
        val all = partitions.values.flatten.toSeq
        checkAlone(option, spec, all, "the read")
        all.map(_ -> spec).toMap
      case BoundSpec.Each(option, specs, others, isProgress) =>
        val isElsewhere = isProgress && specs.keys.exists(n => hasName(partitions, fullName(n)))
        val named       = specs.toSeq.flatMap { case (name, spec) =>
          val full = fullName(name)
          if (partitions.values.exists(_.contains(full))) Seq(full -> spec)
          else if (partitions.contains(full)) {
            checkAlone(option, spec, partitions(full), s"the topic $full")
            partitions(full).map(_ -> spec)
          } else if (isElsewhere || mayBeMissing(full)) Nil
          else throw unknownTopic(option, name, partitions, nearest)
        }.toMap
        partitions.values.flatten.map(p => p -> named.getOrElse(p, others)).toMap
    }

  private def hasName(partitions: Map[String, Seq[String]], full: String) =
    partitions.contains(full) || partitions.values.exists(_.contains(full))

  /** A position belongs to one partition: its ledger is in no other. */
  private def checkAlone(
      option: String,
      spec: PositionSpec,
      partitions: Seq[String],
      what: String
  ): Unit =
    spec match {
      case at: PositionSpec.AtMessage if partitions.size > 1 =>
        throw Conditions.OffsetsMalformed(
          option = option,
          where = at.position.toString,
          why = s"position ${at.position} is in one partition, but $what has ${partitions.size}",
          allowed = "positions with the names of partitions, as topic-partition-0"
        ).exception
      case _ => ()
    }

  private def unknownTopic(
      option: String,
      name: String,
      partitions: Map[String, Seq[String]],
      nearest: (String, Seq[String]) => Option[String]
  ) = {
    val known = (partitions.keys ++ partitions.values.flatten).toSeq.distinct.sorted
    Conditions.OffsetsUnknownTopic(
      option = option,
      topic = s"`$name`",
      nearest = nearest(name, known).fold("")(n => s"; the nearest name is $n"),
      known = (known.take(10) ++ (if (known.size > 10) Seq(s"... (${known.size} in all)") else Nil)).mkString(", ")
    ).exception
  }

  /** @param before
    *   the place before a time
    * @param newest
    *   the place before so many messages
    */
  def start(
      spec: PositionSpec,
      bounds: PartitionBounds,
      before: Long => Position,
      newest: Int => Position
  ): Position = spec match {
    case PositionSpec.Earliest      => bounds.first
    case PositionSpec.Latest        => bounds.last
    case at: PositionSpec.AtMessage => at.passed
    case PositionSpec.AtTime(time)  => startAt(before(time), bounds)
    case PositionSpec.Newest(count) => newest(count)
  }

  /** A lookup by time counts markers, which no message follows, and does not see what compaction kept of deleted
    * ledgers. Where it returns nothing before or nothing after the time, the compacted view is read from its beginning,
    * and tasks drop the messages outside.
    */
  private def startAt(position: Position, bounds: PartitionBounds): Position =
    if (bounds.compactedBefore.exists(stored => position <= stored || bounds.last <= position)) bounds.first
    else Seq(position, bounds.last).min

  /** Resolves the end of a read, at most the last message: a read does not wait for later ones. */
  def end(spec: PositionSpec, bounds: PartitionBounds, before: Long => Position): Position = spec match {
    case PositionSpec.Earliest                        => bounds.first
    case PositionSpec.Latest | PositionSpec.Newest(_) => bounds.last
    case at: PositionSpec.AtMessage                   => Seq(at.passed, bounds.last).min
    case PositionSpec.AtTime(time)                    => Seq(before(time), bounds.last).min
  }

  /** Fails when the user set an end before the start. */
  def checkOrder(topic: String, start: PositionSpec, end: PositionSpec): Unit = {
    def refuse(s: String, e: String): Unit =
      throw Conditions.OffsetsReversed(topic = topic, start = s, end = e).exception
    (start, end) match {
      case (_, PositionSpec.After(Position.BeforeAll))                                => () // nothing is read
      case (PositionSpec.After(s), PositionSpec.After(e)) if e < s                    => refuse(s.toString, e.toString)
      case (PositionSpec.From(s), PositionSpec.After(e)) if e < s && e <= s.preceding => refuse(s.toString, e.toString)
      case (PositionSpec.AtTime(s), PositionSpec.AtTime(e)) if e < s                  => refuse(instant(s), instant(e))
      case _                                                                          => ()
    }
  }

  private def instant(millis: Long) = java.time.Instant.ofEpochMilli(millis).toString

  /** Partitions of `to` that neither offset has a start for: they join a stream of streamnative/pulsar-spark, whose
    * offsets have no `added`.
    */
  def joining(from: PulsarOffset, to: PulsarOffset): Seq[String] =
    to.positions.keys.filterNot(p => to.added.contains(p) || from.positions.contains(p)).toSeq

  /** The ranges between two stream offsets: a function of these two values alone, so that a repeated batch reads the
    * same messages. A partition in `added` of `to` is read from there.
    */
  def between(from: PulsarOffset, to: PulsarOffset): Seq[OffsetRange] =
    if (from.positions == to.positions) Nil // `added` of `to` then belongs to the batch before
    else to.positions.toSeq
      .map { case (topic, end) => OffsetRange(topic, start(topic, from, to).getOrElse(end), end) }
      .filterNot(_.isEmpty)

  /** The ranges of all partitions of `to` from where they were read, without an end. */
  def after(from: PulsarOffset, to: PulsarOffset): Seq[OffsetRange] =
    to.positions.toSeq.map { case (topic, end) =>
      OffsetRange(topic, start(topic, from, to).getOrElse(end), Position.AfterAll)
    }

  private def start(topic: String, from: PulsarOffset, to: PulsarOffset): Option[Position] =
    to.added.get(topic).orElse(from.positions.get(topic))
}
