package io.github.pulsarspark.pulsar.broker

import java.util.concurrent.CompletableFuture

import scala.collection.mutable

import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.feed.{PartitionFeed, PendingFeed}

/** Topic partitions in memory, with their watches, and what was requested of them.
  *
  * @param names
  *   all hold the entry 5:9 and begin with it
  */
private[pulsar] final class FakePartitions(names: Seq[String]) {
  val bounds: mutable.Map[String, PartitionBounds] =
    mutable.Map.from(names.map(_ -> PartitionBounds(Position(5, 8), Position(5, 9))))
  val byWatch: mutable.Buffer[String] = mutable.Buffer.empty
  val byProbe: mutable.Buffer[String] = mutable.Buffer.empty
  val opened: mutable.Buffer[String]  = mutable.Buffer.empty

  val watches: mutable.Map[String, FakeWatch] = mutable.Map.empty

  /** Partitions of which an earlier last message is named, to watches and probes. */
  val named: mutable.Map[String, Position] = mutable.Map.empty

  def open(partition: String, after: Position): PendingFeed[FakeWatch] = {
    opened += partition
    watches.put(partition, new FakeWatch(partition, after, this))
    new PendingFeed(CompletableFuture.completedFuture(watches(partition)))
  }

  def probe(partitions: Seq[String]): Map[String, PartitionBounds] = {
    byProbe ++= partitions
    bounds.view.filterKeys(partitions.toSet).map { case (p, b) => p -> b.copy(last = named.getOrElse(p, b.last)) }.toMap
  }

  /** Stores an entry in the ledger of the last one, and dispatches it. */
  def publish(partition: String, entries: Int = 1): Unit = (1 to entries).foreach { _ =>
    val last = bounds(partition).last
    bounds.updateWith(partition)(_.map(_.copy(last = Position(last.ledgerId, last.entryId + 1))))
    watches.get(partition).foreach(_.receive(bounds(partition).last))
  }

  /** Partitions that were requested since the last call: by watches, and by probes. */
  def requests(): (Set[String], Set[String]) = {
    val result = (byWatch.toSet, byProbe.toSet)
    byWatch.clear()
    byProbe.clear()
    result
  }
}

/** A watch with one permit, as a consumer has it that remembers positions alone. */
private[pulsar] final class FakeWatch(partition: String, after: Position, partitions: FakePartitions)
    extends PositionsFeed {
  var session                           = 1
  var isConnected                       = true
  override def isUnbroken: Boolean      = true
  var isForgotten                       = false // by the broker, which answers what it knew then
  private var arrived: Option[Position] = None
  private var last                      = after

  def receive(entry: Position): Unit = if (arrived.isEmpty && !isForgotten) {
    arrived = Some(entry)
    last = entry
  }

  override def first(): PartitionFeed.Place  = arrived.map(place).orNull
  override def newest(): PartitionFeed.Place = place(last)

  override def waitAfter(after: PartitionFeed.Place): Boolean = {
    val follows = after == newest()
    if (follows) arrived = None
    follows
  }

  override def bounds(): CompletableFuture[PartitionFeed.Bounds] = {
    partitions.byWatch += partition
    val b    = partitions.bounds(partition)
    val last = if (isForgotten) after else if (b.last == b.first) Position(-1, -1) else b.last
    val told = partitions.named.getOrElse(partition, last)
    val end  = if (arrived.exists(_ > told)) newest() else place(told)
    CompletableFuture.completedFuture(new PartitionFeed.Bounds(end.ledgerId, end.entryId, -1, -1))
  }

  override def resume(): Unit = ()
}
