package io.github.pulsarspark.pulsar.broker

import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{CheckedOptions, Scope}
import io.github.pulsarspark.position.{PartitionBounds, Position}
import io.github.pulsarspark.pulsar.connection.ClusterCalls

class StreamBoundsSuite extends UnitSuite {

  private val options =
    ReadOptions(CheckedOptions(Map("service.url" -> "pulsar://h:1", "topic" -> "t"), Scope.BatchRead, _ => Nil))

  /** Enough partitions that only 4 of them are requested at each trigger. */
  private val many = (1 to 200).map(n => f"p$n%03d")
  private val none = Set.empty[String]

  private final class Stream(names: Seq[String] = many) {
    val partitions = new FakePartitions(names)
    val monitor    = new IdleTailMonitor(partitions.open, new ClusterCalls(options.client, "pulsar://h:1"))
    var now        = 0L
    val bounds     = new StreamBounds(partitions.probe, monitor, () => now)
    var idle       = names.toSet

    /** One trigger of a stream that reads everything; returns what it requested by watches and by probes. */
    def trigger(): (Set[String], Set[String]) = {
      val current = bounds.of(names)
      assertEquals(current.view.mapValues(_.last).toMap, partitions.bounds.view.mapValues(_.last).toMap)
      monitor.watch(current.view.mapValues(_.last).toMap, idle, _ => false)
      partitions.requests()
    }

    /** The watches were compared with probes, and asked since. */
    def confirm(): Stream = {
      now += IdleTailMonitor.SettleTime.toNanos
      trigger()
      trigger()
      this
    }

    /** Every partition is watched and has answered since. */
    def settle(): Stream = {
      assertEquals(trigger(), (none, names.toSet))
      assertEquals(trigger(), (names.toSet, none))
      this
    }
  }

  test("a watch is compared with a probe once in a session, some time after it subscribed") {
    val stream = new Stream(Seq("p")).settle()
    stream.now += IdleTailMonitor.SettleTime.toNanos
    assertEquals(stream.trigger(), (none, Set("p")))
    assertEquals(stream.trigger(), (Set("p"), none))
    stream.partitions.watches("p").session += 1
    stream.trigger()
    stream.now += IdleTailMonitor.SettleTime.toNanos
    assertEquals(stream.trigger(), (none, Set("p")))
  }

  test("a watch that the broker has forgotten is replaced, and what it has not received is read") {
    val stream    = new Stream(Seq("p")).settle()
    val forgotten = stream.partitions.watches("p")
    forgotten.isForgotten = true
    stream.partitions.publish("p")
    intercept[munit.ComparisonFailException](stream.trigger()) // the row is not noticed yet
    stream.now += IdleTailMonitor.SettleTime.toNanos
    stream.trigger()
    assert(forgotten.isGone)
    assert(stream.partitions.watches("p") ne forgotten)
  }

  test("a partition goes on by what a watch receives when the broker names an earlier last message") {
    val stream = new Stream(Seq("p")).settle()
    stream.partitions.named.put("p", Position(5, 9))
    (10 to 14).foreach { entry =>
      stream.partitions.publish("p")
      val last = stream.bounds.of(Seq("p"))("p").last
      assertEquals(last, Position(5, entry.toLong))
      stream.monitor.watch(Map("p" -> last), Set("p"), _ => false)
    }
    assertEquals(stream.partitions.opened.toSeq, Seq("p"), "it follows")
  }

  test("a share of the quiet partitions is requested, each of them in turn") {
    val stream = new Stream().settle()
    val turns  = Seq.fill(50)(stream.trigger())
    assertEquals(turns.map(_._1.size), Seq.fill(50)(4))
    assertEquals(turns.map(_._1).reduce(_ ++ _), many.toSet)
    assertEquals(turns.flatMap(_._2), Nil)
  }

  test("a partition that was not requested for a minute is requested, however seldom triggers are") {
    val stream = new Stream().settle().confirm()
    stream.now += 59.seconds.toNanos
    assertEquals(stream.trigger()._1.size, 4)
    stream.now += 1.second.toNanos
    assertEquals(stream.trigger()._1.size, 196)
    assertEquals(stream.trigger()._1.size, 4)
  }

  test("the share is a 60th of many partitions, and all of a few") {
    assertEquals(Seq(0, 1, 128, 129, 3000, 10000).map(StreamBounds.share), Seq(0, 1, 128, 3, 50, 167))
  }

  test("a partition to which something was sent is requested by its watch, which then follows") {
    val stream = new Stream().settle()
    many.foreach(stream.partitions.publish(_))
    assertEquals(stream.trigger(), (many.toSet, none))
    many.foreach(stream.partitions.publish(_))
    assertEquals(stream.trigger(), (many.toSet, none))
    stream.trigger()
    assertEquals(stream.trigger()._1.size, 4)
    assertEquals(stream.partitions.opened.toSeq.sorted, many)
  }

  test("a watch that stands behind is requested, and opened again when the partition is idle") {
    val stream = new Stream().settle()
    stream.idle = none
    many.foreach(stream.partitions.publish(_, 3))
    assertEquals(Seq.fill(3)(stream.trigger()), Seq.fill(3)((many.toSet, none)))
    stream.idle = many.toSet
    stream.trigger()
    assertEquals(stream.partitions.opened.size, 2 * many.size)
    stream.trigger()
    assertEquals(stream.trigger()._1.size, 4)
  }

  test("a new session, a missing connection and a watch that ended are reasons to request") {
    val stream = new Stream().settle()
    stream.partitions.watches.values.foreach(_.session += 1)
    assertEquals(stream.trigger(), (many.toSet, none))
    assertEquals(stream.trigger()._1.size, 4)
    stream.partitions.watches.values.foreach(_.isConnected = false)
    assertEquals(Seq.fill(2)(stream.trigger()._1), Seq(many.toSet, many.toSet))
    stream.partitions.watches.values.foreach(_.isGone = true)
    assertEquals(stream.trigger(), (none, many.toSet))
  }

  test("where a partition begins is requested when the last message is in another ledger") {
    val stream = new Stream(Seq("p")).settle()
    stream.partitions.bounds.put("p", PartitionBounds(Position(7, -1), Position(7, 0)))
    assertEquals(stream.bounds.of(Seq("p")),
      Map("p" -> PartitionBounds(Position(7, -1), Position(7, 0), emptyAfter = Some(Position(5, 9)))))
    assertEquals(stream.partitions.requests()._2, Set("p"))
  }

  test("where an empty partition begins is requested in each session") {
    val stream = new Stream(Seq("p"))
    stream.partitions.bounds.put("p", PartitionBounds(Position(5, -1), Position(5, -1)))
    assertEquals(stream.trigger(), (none, Set("p")))
    assertEquals(stream.trigger(), (Set("p"), Set("p")))
    assertEquals(stream.trigger(), (Set("p"), none))
    stream.partitions.watches("p").session += 1
    stream.partitions.bounds.put("p", PartitionBounds(Position(8, -1), Position(8, -1)))
    assertEquals(stream.bounds.of(Seq("p"))("p").emptyAfter, Some(Position(5, -1)))
  }

  test("partitions that are gone are skipped, and their watches end") {
    val stream = new Stream().settle()
    assertEquals(stream.bounds.of(many.tail).keySet, many.tail.toSet)
    assert(stream.partitions.watches(many.head).isGone)
  }
}
