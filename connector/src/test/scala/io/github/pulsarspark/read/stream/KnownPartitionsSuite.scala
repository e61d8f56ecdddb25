package io.github.pulsarspark.read.stream

import scala.collection.mutable
import scala.concurrent.duration._

import io.github.pulsarspark.UnitSuite

class KnownPartitionsSuite extends UnitSuite {

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
      work => {
        val answer = work()
        () => answer
      },
      () => now
    )

    /** The partitions of a trigger, all of which answer. */
    def current(read: Seq[String]): Seq[String] = partitions.ask(read)(_.map(p => p -> p).toMap).keys.toSeq.sorted
  }

  test("all partitions are in alphabetical order, each with its topic") {
    val known = new Known(0.seconds)
    assertEquals(known.current(Nil), Seq("a", "b-partition-0", "b-partition-1"))
    assertEquals(Seq("b-partition-1", "c").map(known.partitions.topic), Seq(Some("b"), None))
    assertEquals(Seq("a", "none", "c").map(known.partitions.hasTopic), Seq(true, false, false))
  }

  test("without an interval topics are requested each time") {
    val known = new Known(0.seconds)
    known.current(Nil)
    known.topics = Map("c" -> Seq("c"))
    assertEquals(known.current(Nil), Seq("c"))
  }

  test("topics are requested when the interval is over, or when somebody needs those of now") {
    val known = new Known(30.seconds)
    known.current(Nil)
    known.topics = Map("c" -> Seq("c"))
    known.now = 30.seconds.toNanos - 1
    assertEquals(known.current(Nil).size, 3)
    known.now += 1
    assertEquals(known.current(Nil), Seq("c"))
    known.topics = two
    assertEquals(known.partitions.discoverAnew().size, 3)
    known.now += 30.seconds.toNanos - 1
    known.current(Nil)
    assertEquals(known.requests, 3)
  }

  private val whole = "persistent://public/default/b"

  test("a partition that was read and is not listed any more is known as long as it exists") {
    val known = new Known(0.seconds)
    val read  = Seq("a", "b-partition-0", "b-partition-1")
    known.current(read)
    known.topics = Map("a" -> Seq("a"))
    known.existing = Set("b-partition-1")
    assertEquals(known.current(read), Seq("a", "b-partition-1"))
    assertEquals(read.map(known.partitions.topic), Seq(Some("a"), None, Some(whole)))
    assert(known.partitions.hasTopic(whole))
    assertEquals(known.confirmed.toSeq, Seq(Seq("b-partition-0", "b-partition-1")))
    assertEquals(known.current(read.filterNot(_ == "b-partition-0")).size, 2, "no request")
    assertEquals(known.confirmed.size, 1)
    assertEquals(known.current(Seq("a")), Seq("a"), "its loss was reported")
    assert(!known.partitions.hasTopic(whole))
    known.topics = two
    assertEquals(known.current(read), Seq("a", "b-partition-0", "b-partition-1"))
  }

  test("a partition of a topic that the options do not select any more is not read on, though it exists") {
    val known = new Known(0.seconds)
    known.topics = Map("a" -> Seq("a"))
    known.existing = Set("b-partition-1")
    known.selected = _ != whole
    assertEquals(known.current(Seq("a", "b-partition-1")), Seq("a"))
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

  private final class Requests(known: Known, missing: Set[String] = Set.empty) {
    val made                                             = mutable.Buffer.empty[Seq[String]]
    def apply(read: Seq[String] = Nil): Map[String, Int] = known.partitions.ask(read) { names =>
      made += names
      names.filterNot(missing).map(_ -> made.size).toMap
    }
  }

  test("a request for partitions that a discovery confirms is made once, while that is under way") {
    val known    = new Known(0.seconds)
    val requests = new Requests(known)
    requests()
    assertEquals(requests().keySet, Set("a", "b-partition-0", "b-partition-1"))
    assertEquals((requests.made.size, known.requests), (2, 2))
  }

  test("a request is made again when a discovery finds another partition, or misses one") {
    val known    = new Known(0.seconds)
    val requests = new Requests(known)
    requests()
    known.topics = two + ("c" -> Seq("c"))
    assertEquals(requests(), Map("a" -> 3, "b-partition-0" -> 3, "b-partition-1" -> 3, "c" -> 3))
    known.topics = two - "a"
    assertEquals(requests(), Map("b-partition-0" -> 5, "b-partition-1" -> 5))
    known.existing = Set("b-partition-1")
    known.topics = Map("b" -> Seq("b-partition-0"))
    assertEquals(requests(Seq("b-partition-0", "b-partition-1")).keySet, Set("b-partition-0", "b-partition-1"))
    assertEquals(requests.made.last, Seq("b-partition-0", "b-partition-1"))
  }

  test("a request is made again when a partition that the discovery confirms has no answer") {
    val known    = new Known(0.seconds)
    val requests = new Requests(known, Set("a"))
    requests()
    assertEquals(requests().values.toSet, Set(3))
  }

  test("a request that fails is made again, and a discovery that fails is reported") {
    val known    = new Known(0.seconds)
    var failures = 1
    def ask()    = known.partitions.ask(Nil) { names =>
      if (known.requests > 1 && failures > 0) {
        failures -= 1
        throw new IllegalStateException("no answer")
      }
      names.map(_ -> 1).toMap
    }
    ask()
    assertEquals(ask().size, 3)
    failures = 2
    intercept[IllegalStateException](ask())
  }
}
