package io.github.pulsarspark.read.stream

import scala.collection.mutable
import scala.concurrent.duration._

import munit.FunSuite

class KnownPartitionsSuite extends FunSuite {

  private val two = Map("b" -> Seq("b-partition-0", "b-partition-1"), "a" -> Seq("a"), "none" -> Nil)

  private final class Known(interval: FiniteDuration) {
    var now        = 0L
    var requests   = 0
    var topics     = two
    var existing   = Set.empty[String]
    var selected   = (_: String) => true
    val confirmed  = mutable.Buffer.empty[Seq[String]]
    val partitions = new KnownPartitions(
      () => {
        requests += 1
        topics
      },
      topic => selected(topic),
      names => {
        confirmed += names
        names.filter(existing)
      },
      interval,
      () => now
    )
  }

  test("all partitions are in alphabetical order, each with its topic") {
    val known = new Known(0.seconds)
    assertEquals(known.partitions.current(Nil), Seq("a", "b-partition-0", "b-partition-1"))
    assertEquals(Seq("b-partition-1", "c").map(known.partitions.topic), Seq(Some("b"), None))
    assertEquals(Seq("a", "none", "c").map(known.partitions.hasTopic), Seq(true, false, false))
  }

  test("without an interval topics are requested each time") {
    val known = new Known(0.seconds)
    known.partitions.current(Nil)
    known.topics = Map("c" -> Seq("c"))
    assertEquals(known.partitions.current(Nil), Seq("c"))
  }

  test("topics are requested when the interval is over, or when somebody needs those of now") {
    val known = new Known(30.seconds)
    known.partitions.current(Nil)
    known.topics = Map("c" -> Seq("c"))
    known.now = 30.seconds.toNanos - 1
    assertEquals(known.partitions.current(Nil).size, 3)
    known.now += 1
    assertEquals(known.partitions.current(Nil), Seq("c"))
    known.topics = two
    assertEquals(known.partitions.discoverAnew().size, 3)
    known.now += 30.seconds.toNanos - 1
    known.partitions.current(Nil)
    assertEquals(known.requests, 3)
  }

  private val whole = "persistent://public/default/b"

  test("a partition that was read and is not listed any more is known as long as it exists") {
    val known = new Known(0.seconds)
    val read  = Seq("a", "b-partition-0", "b-partition-1")
    known.partitions.current(read)
    known.topics = Map("a" -> Seq("a"))
    known.existing = Set("b-partition-1")
    assertEquals(known.partitions.current(read), Seq("a", "b-partition-1"))
    assertEquals(read.map(known.partitions.topic), Seq(Some("a"), None, Some(whole)))
    assert(known.partitions.hasTopic(whole))
    assertEquals(known.confirmed.toSeq, Seq(Seq("b-partition-0", "b-partition-1")))
    assertEquals(known.partitions.current(read.filterNot(_ == "b-partition-0")).size, 2, "no request")
    assertEquals(known.confirmed.size, 1)
    assertEquals(known.partitions.current(Seq("a")), Seq("a"), "its loss was reported")
    assert(!known.partitions.hasTopic(whole))
    known.topics = two
    assertEquals(known.partitions.current(read), Seq("a", "b-partition-0", "b-partition-1"))
  }

  test("a partition of a topic that the options do not select any more is not read on, though it exists") {
    val known = new Known(0.seconds)
    known.topics = Map("a" -> Seq("a"))
    known.existing = Set("b-partition-1")
    known.selected = _ != whole
    assertEquals(known.partitions.current(Seq("a", "b-partition-1")), Seq("a"))
    assertEquals(known.confirmed.flatten.toSeq, Nil)
  }

  test("a partition of a batch that is run again is looked for in a new list, then by itself") {
    val known = new Known(30.seconds)
    known.topics = Map("a" -> Seq("a"))
    known.existing = Set("b-partition-1")
    known.partitions.find(Seq("a", "b-partition-0", "b-partition-1"))
    assertEquals((known.requests, known.confirmed.toSeq), (1, Seq(Seq("b-partition-0", "b-partition-1"))))
    assertEquals(Seq("b-partition-0", "b-partition-1").map(known.partitions.topic), Seq(None, Some(whole)))
    known.partitions.find(Seq("a", "b-partition-1"))
    assertEquals(known.requests, 1)
  }
}
