package io.github.pulsarspark.read.plan

import scala.collection.immutable.SortedMap

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.NearestName
import io.github.pulsarspark.position.{BoundParser, BoundSpec, Interval, OffsetRange, PartitionBounds, Position, PositionSpec, PulsarOffset, RangePlanner, StreamStart}
import io.github.pulsarspark.pulsar.topics.TopicNames
import io.github.pulsarspark.pulsar.broker.BrokerApi

/** Resolves the start and end that options request to positions, once, on the driver. Times are looked up with the
  * allowance `publishTimeSkew`, because the broker searches as if publish times were in order. Tasks skip the messages
  * outside.
  */
private[pulsarspark] final class BoundResolver(
    options: ReadOptions,
    broker: BrokerApi,
    now: () => Long = () => System.currentTimeMillis()
) {

  private val skew = options.publishTimeSkew.toMillis

  /** The ranges of a batch read with their time bounds; empty ranges are skipped.
    *
    * @param accepts
    *   false for partitions that the filters exclude: no position of them is requested
    */
  def batchRanges(
      topics: Map[String, Seq[String]],
      accepts: String => Boolean = _ => true
  ): Seq[(OffsetRange, Interval)] = {
    val allStarts = assign(startBound(PositionSpec.Earliest), topics)
    val allEnds   =
      assign(bound("endingOffsets", options.endingOffsets, "endingTime", options.endingTime, PositionSpec.Latest),
        topics)
    if (allStarts.values.exists(_ == PositionSpec.Latest)) throw Conditions.StartLatest().exception
    if (allEnds.values.exists(_ == PositionSpec.Earliest)) throw Conditions.EndEarliest().exception
    allStarts.foreach { case (partition, start) => RangePlanner.checkOrder(partition, start, allEnds(partition)) }
    val (starts, ends) = (allStarts.view.filterKeys(accepts).toMap, allEnds.view.filterKeys(accepts).toMap)
    val bounds         = boundsOf(starts, topics)
    val earliest       = positions(starts.view.filterKeys(bounds.contains).toMap, -skew)
    val latest         = positions(ends.view.filterKeys(bounds.contains).toMap, skew)
    val last           = bounds.map { case (p, b) => p -> RangePlanner.end(ends(p), b, _ => latest(p)) }
    val times          = starts.map { case (p, start) =>
      p -> Interval(time(start).getOrElse(Long.MinValue), time(ends(p)).getOrElse(Long.MaxValue))
    }
    val newest = newestOf(starts, bounds, last, times)
    bounds.keys.toSeq.sorted.map { p =>
      OffsetRange(p, RangePlanner.start(starts(p), bounds(p), _ => earliest(p), _ => newest(p)), last(p)) -> times(p)
    }.filterNot(_._1.isEmpty)
  }

  /** Positions before the newest messages up to these ends. */
  private def newestOf(
      starts: Map[String, PositionSpec],
      bounds: Map[String, PartitionBounds],
      ends: Map[String, Position],
      times: String => Interval
  ): Map[String, Position] =
    new NewestMessages(options, broker).starts(bounds.toSeq.flatMap { case (p, b) =>
      starts(p) match {
        case PositionSpec.Newest(count) =>
          Some(NewestMessages.Wanted(OffsetRange(p, b.first, ends(p)), count, times(p)))
        case _ => None
      }
    })

  /** The start of a stream. Where publish times are not in order, messages before the time follow the position that the
    * search returns: tasks skip them by their time, up to the position where the allowance ends. What comes after it is
    * returned, whatever clock its producer has. A time that is still to come has no such position.
    */
  def streamStart(topics: Map[String, Seq[String]]): StreamStart = {
    val bound    = startBound(PositionSpec.Latest)
    val starts   = assign(bound, topics)
    val bounds   = boundsOf(starts, topics)
    val existing = starts.view.filterKeys(bounds.contains).toMap
    val byTimes  = positions(existing, -skew)
    val newest   = newestOf(existing, bounds, bounds.view.mapValues(_.last).toMap, _ => Interval.Always)
    val begins   =
      existing.map { case (p, spec) => p -> RangePlanner.start(spec, bounds(p), _ => byTimes(p), _ => newest(p)) }
    val times = starts.flatMap { case (p, spec) => time(spec).map(p -> _) }
    val all   = bound match {
      case BoundSpec.Everywhere(_, spec) => time(spec)
      case _: BoundSpec.Each             => None
    }
    val until   = positions(existing.filter { case (_, spec) => time(spec).exists(_ <= now()) }, skew)
    val toCome  = times.filter { case (_, t) => t > now() }
    val inexact = until.filter { case (p, end) => begins(p) < end }
    StreamStart(
      PulsarOffset.of(begins),
      SortedMap.from(all.filter(_ > now()).map(StreamStart.AnyPartition -> _) ++ toCome ++
        inexact.keys.map(p => p -> times(p))),
      SortedMap.from(inexact)
    )
  }

  /** Bounds of existing partitions. A missing one (brokers delete inactive partitions) counts as empty, unless an
    * option names a position in it.
    */
  private def boundsOf(
      starts: Map[String, PositionSpec],
      topics: Map[String, Seq[String]]
  ): Map[String, PartitionBounds] = {
    val result = broker.confirmedBounds(starts.keys.toSeq.sorted)
    starts.toSeq.sortBy(_._1).foreach { case (p, spec) =>
      val isPartition  = !topics.contains(p)
      val mayBeMissing = (isPartition || options.allowMissingTopics) && !spec.isInstanceOf[PositionSpec.AtMessage]
      if (!result.contains(p) && !mayBeMissing)
        throw Conditions.TopicNotFound(topic = p, url = options.client.serviceUrl).exception
    }
    result
  }

  private def startBound(otherwise: PositionSpec) =
    bound("startingOffsets", options.startingOffsets, "startingTime", options.startingTime, otherwise)

  private def bound(
      offsetsKey: String,
      offsets: Option[String],
      timeKey: String,
      time: Option[String],
      otherwise: PositionSpec
  ): BoundSpec =
    offsets
      .map(BoundParser.offsets(offsetsKey, _, otherwise))
      .orElse(time.map(BoundParser.times(timeKey, _, otherwise)))
      .getOrElse(BoundSpec.Everywhere(offsetsKey, otherwise))

  private def assign(bound: BoundSpec, topics: Map[String, Seq[String]]) =
    RangePlanner.assign(bound, topics, TopicNames.full, NearestName(_, _),
      options.allowMissingTopics && TopicNames.includes(options.topics, _))

  private def positions(specs: Map[String, PositionSpec], allowance: Long): Map[String, Position] = {
    val times = specs.collect { case (p, PositionSpec.AtTime(t)) => p -> math.max(0L, Math.addExact(t, allowance)) }
    if (times.isEmpty) Map.empty else broker.positionsBefore(times)
  }

  private def time(spec: PositionSpec): Option[Long] = spec match {
    case PositionSpec.AtTime(t) => Some(t)
    case _                      => None
  }
}
