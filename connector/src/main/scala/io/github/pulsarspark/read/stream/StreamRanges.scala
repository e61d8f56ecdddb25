package io.github.pulsarspark.read.stream

import io.github.pulsarspark.position.{OffsetRange, Position, PulsarOffset, RangePlanner}
import io.github.pulsarspark.read.plan.PlannedRange
import io.github.pulsarspark.read.stream.loss.StreamLosses

/** The ranges of a micro-batch: a function of its two offsets, and of what of its partitions exists. */
private[stream] final class StreamRanges(
    session: StreamSession,
    origin: StreamOrigin,
    partitions: KnownPartitions,
    losses: StreamLosses
) {

  /** The ranges between two offsets with the schemas of their rows. Reports partitions that no longer exist. */
  def between(from: PulsarOffset, to: PulsarOffset): Seq[PlannedRange] =
    planned(session.kept(RangePlanner.between(withJoining(from, to), to)), to)

  /** The ranges after an offset, without an end, of all partitions that `to` names. */
  def after(from: PulsarOffset, to: PulsarOffset): Seq[PlannedRange] = {
    val joined = withJoining(from, to)
    val news   = RangePlanner.between(joined, to) // where a first message to look for exists
    val kept   = session.kept(news).map(r => r.topic -> r.startExclusive).toMap
    val starts = news.map(r => r.topic -> kept.getOrElse(r.topic, r.endInclusive)).toMap
    val all    = RangePlanner.after(joined, to).map(r =>
      r.copy(startExclusive = starts.getOrElse(r.topic, r.startExclusive))
    )
    planned(all, to)
  }

  private def planned(ranges: Seq[OffsetRange], to: PulsarOffset): Seq[PlannedRange] = {
    partitions.find(ranges.map(_.topic))
    val (deleted, existing) = ranges.partitionMap(r => partitions.topic(r.topic).map(r -> _).toRight(r))
    deleted.foreach(r => losses.report(partitions.lossOf(r)))
    existing.zip(session.schemas.of(existing, newestLedgers(to))).map { case ((range, _), schema) =>
      PlannedRange(range, origin.start.bounds(range), schema)
    }
  }

  /** `from` with the partitions that join in `to`, before their first messages. */
  private def withJoining(from: PulsarOffset, to: PulsarOffset): PulsarOffset = {
    val joining = RangePlanner.joining(from, to)
    if (joining.isEmpty) from
    else {
      val bounds = session.broker.bounds(joining)
      joining.filterNot(bounds.contains).foreach(p =>
        losses.report(partitions.lossOf(OffsetRange(p, Position.BeforeAll, to.positions(p))))
      )
      from.copy(positions = from.positions ++ bounds.view.mapValues(_.first))
    }
  }

  /** The highest ledger of each topic that an offset names. */
  private def newestLedgers(to: PulsarOffset): Map[String, Long] =
    to.positions.toSeq.flatMap { case (partition, end) => partitions.topic(partition).map(_ -> end.ledgerId) }
      .groupMapReduce(_._1)(_._2)(math.max(_, _))
}
