package io.github.pulsarspark.read.stream

import io.github.pulsarspark.position.{Interval, PruningBounds}

/** Tasks of micro-batches: their ranges by [[StreamRanges]], where each of them is read by [[StreamTasks]]. */
class StreamPlanSuite extends StreamSuite {

  test("plan between equal offsets: no task") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      assertEquals(topic.start().plan("p0 0:1", "p0 0:1; added p0 0:-1"), Nil)
    }
  }

  test("plan between two offsets: the ranges between them, whatever the topic has by now, also after a restart") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.store("p1", 1 -> Seq(0, 0))
      def ranges = topic.start().ranges("p0 0:0", "p0 0:1, p1 1:0; added p1 1:-1")
      val first  = ranges
      assertEquals(first, Seq("p0 (0:0, 0:1] broker", "p1 (1:-1, 1:0] broker"))
      topic.store("p0", 0 -> Seq(0, 0, 0, 0), 2 -> Seq(0))
      topic.store("p2", 3 -> Seq(0))
      assertEquals(ranges, first)
    }
  }

  test("plan of a partition that was deleted since: lost, and not read") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      def run(options: (String, String)*) = topic.start(options: _*)
      val (from, to)                      = ("p0 0:0, p1 1:0", "p0 0:1, p1 1:3")
      val passing                         = run(goOn)
      assertEquals(passing.ranges(from, to), Seq("p0 (0:0, 0:1] broker"))
      assertEquals(passing.lost, Seq("PARTITION_MISSING p1 1:0"))
      assertEquals(condition(run().plan(from, to)), "PULSAR_DATA_LOSS.PARTITION_MISSING")
    }
  }

  test("plan of a partition of a topic that is not selected any more: lost as such") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start(goOn, "topic" -> "another", "allowMissingTopics" -> "true")
      assertEquals(run.ranges("p0 0:0", "p0 0:1"), Nil)
      assertEquals(run.lost, Seq("TOPIC_NOT_SELECTED p0 0:0"))
    }
  }

  test("plan of a partition that neither offset has a start for, as in checkpoints of streamnative/pulsar-spark") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.store("p1", 1 -> Seq(0, 0))
      val run = topic.start(goOn)
      assertEquals(run.ranges("p0 0:1", "p0 0:1, p1 1:1"), Seq("p1 (1:-1, 1:1] broker"), "from its first message")
      assertEquals(run.ranges("p0 0:0", "p0 0:1, p2 2:1"), Seq("p0 (0:0, 0:1] broker"))
      assertEquals(run.lost, Seq("PARTITION_MISSING p2 first"), "it does not exist")
    }
  }

  test("plan of a partition that was not discovered yet: it is looked for, although the interval is not over") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start("discoveryInterval" -> "1h")
      run.latest("p0 0:1")
      topic.store("p1", 1 -> Seq(0))
      assertEquals(run.ranges("p0 0:1", "p0 0:1, p1 1:0; added p1 1:-1"), Seq("p1 (1:-1, 1:0] broker"))
    }
  }

  test("plan of a stream that starts at a time: times bound the messages up to where the search is not exact") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start("startingTime" -> "2100-01-01T00:00:00Z")
      assertEquals(run.initial, "p0 0:1")
      val time = Interval(4102444800000L)
      topic.store("p0", 0 -> Seq(0, 0, 0))
      assertEquals(run.plan("p0 0:1", "p0 0:2").map(_.bounds), Seq(PruningBounds(times = time)))
    }
  }

  private val ten = Seq.fill(10)(0)

  test("plan of a backlog: closed ledgers where they are stored; the tail, which is short, from the broker") {
    using { topic =>
      topic.store("p0", 0 -> ten, 1 -> ten, 2 -> ten)
      val run = topic.start(adminUrl)
      run.latest("p0 0:-1")
      assertEquals(run.ranges("p0 0:-1", "p0 0:9"), Seq("p0 (0:-1, 0:9] bookies"))
      assertEquals(run.ranges("p0 0:9", "p0 2:9"), Seq("p0 (1:-1, 2:9] broker"))
      val byBroker = topic.start(adminUrl, "readLevel" -> "broker")
      byBroker.latest("p0 0:-1")
      assertEquals(byBroker.ranges("p0 0:-1", "p0 0:9"), Seq("p0 (0:-1, 0:9] broker"))
    }
  }

  /** Lists of ledgers that were requested since the last call. */
  private def lists(): Int = cluster.takeAdminRequests().count(_.contains("/internalStats"))

  test("list of ledgers: requested once for limits and plans, and again when the stream enters an unknown ledger") {
    using { topic =>
      topic.store("p0", 0 -> ten, 1 -> ten, 2 -> ten)
      val run = topic.start(adminUrl, "maxBytesPerTrigger" -> "2000")
      lists()
      assertEquals(run.latest("p0 0:-1"), "p0 0:9")
      val end = run.ranges("p0 0:-1", "p0 0:9")
      assertEquals((end, lists()), (Seq("p0 (0:-1, 0:9] bookies"), 1))
      assertEquals(run.latest("p0 0:9"), "p0 1:9")
      assertEquals(run.ranges("p0 0:9", "p0 1:9"), Seq("p0 (1:-1, 1:9] bookies"))
      assertEquals(lists(), 0)
      topic.store("p0", 0 -> ten, 1 -> ten, 2 -> ten, 3 -> ten)
      assertEquals(run.latest("p0 1:9"), "p0 2:9")
      assertEquals(run.ranges("p0 1:9", "p0 2:9"), Seq("p0 (2:-1, 2:9] bookies"))
      assertEquals(lists(), 1)
    }
  }

  test("list of ledgers: forgotten with its partition, which another one of the same name does not inherit") {
    using { topic =>
      val end = "p0 5:0, p1 2:9" // so that nothing is left whose size is looked for
      topic.store("p0", 5 -> Seq(0))
      topic.store("p1", 0 -> ten, 1 -> ten, 2 -> ten)
      val run = topic.start(adminUrl, goOn)
      run.latest(end)
      def planned = run.ranges("p1 0:-1", "p1 0:9")
      assertEquals(planned, Seq("p1 (0:-1, 0:9] bookies"))
      lists()
      assertEquals((planned, lists()), (Seq("p1 (0:-1, 0:9] bookies"), 0))
      topic.delete("p1")
      run.latest(end)
      run.plan("p0 5:-1", "p0 5:0")
      topic.store("p1", 0 -> ten, 1 -> ten, 2 -> ten)
      run.latest(end)
      lists()
      assertEquals((planned, lists()), (Seq("p1 (0:-1, 0:9] bookies"), 1))
    }
  }

  test("list of ledgers: requested again after a task did not find a ledger where it was") {
    using { topic =>
      topic.store("p0", 0 -> ten, 1 -> ten, 2 -> ten)
      val run = topic.start(adminUrl)
      run.latest("p0 0:-1")
      lists()
      assertEquals(run.rows("p0 0:-1", "p0 0:4"), 5)
      assertEquals(lists(), 1)
      assertEquals(run.rows("p0 0:4", "p0 0:5"), 1)
      assertEquals(lists(), 0)
      cluster.lose(topic.position("0:0").ledgerId)
      assertEquals(run.rows("p0 0:5", "p0 0:7"), 2, "the broker has them")
      val ofTask = lists()
      run.plan("p0 0:7", "p0 0:9")
      assertEquals((ofTask > 0, lists()), (true, 1))
      run.plan("p0 0:7", "p0 0:9")
      assertEquals(lists(), 0, "a task reports it once")
      cluster.lose(topic.position("1:0").ledgerId)
      assertEquals(run.rows("p0 0:9", "p0 1:9"), 10)
      lists()
      run.plan("p0 1:5", "p0 1:9")
      assertEquals(lists(), 1, "another ledger of the same partition")
    }
  }
}
