package io.github.pulsarspark.read.stream

import scala.concurrent.duration._

import munit.FunSuite

class KnownPartitionsSuite extends FunSuite {

  private val two = Map("b" -> Seq("b-partition-0", "b-partition-1"), "a" -> Seq("a"), "none" -> Nil)

  private final class Known(interval: FiniteDuration) {
    var now        = 0L
    var requests   = 0
    var topics     = two
    val partitions = new KnownPartitions(
      () => {
        requests += 1
        topics
      },
      interval,
      () => now
    )
  }

  test("all partitions are in alphabetical order, each with its topic") {
    val known = new Known(0.seconds)
    assertEquals(known.partitions.current(), Seq("a", "b-partition-0", "b-partition-1"))
    assertEquals(Seq("b-partition-1", "c").map(known.partitions.topic), Seq(Some("b"), None))
    assertEquals(Seq("a", "none", "c").map(known.partitions.hasTopic), Seq(true, false, false))
  }

  test("without an interval topics are requested each time") {
    val known = new Known(0.seconds)
    known.partitions.current()
    known.topics = Map("c" -> Seq("c"))
    assertEquals(known.partitions.current(), Seq("c"))
  }

  test("topics are requested when the interval is over, or when somebody needs those of now") {
    val known = new Known(30.seconds)
    known.partitions.current()
    known.topics = Map("c" -> Seq("c"))
    known.now = 30.seconds.toNanos - 1
    assertEquals(known.partitions.current().size, 3)
    known.now += 1
    assertEquals(known.partitions.current(), Seq("c"))
    known.topics = two
    assertEquals(known.partitions.discoverAnew().size, 3)
    known.now += 30.seconds.toNanos - 1
    known.partitions.current()
    assertEquals(known.requests, 3)
  }
}
