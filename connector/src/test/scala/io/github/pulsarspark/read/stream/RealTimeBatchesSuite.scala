package io.github.pulsarspark.read.stream

import java.util.concurrent.locks.LockSupport

import org.apache.spark.TaskAttempts

import io.github.pulsarspark.errors.PulsarError

/** Plans and ends of real-time batches. */
class RealTimeBatchesSuite extends StreamSuite {

  private def live(topic: StreamCase, options: (String, String)*): StreamCase#Run = {
    val run = topic.start(options: _*)
    run.source.prepareForRealTimeMode()
    run
  }

  test("plan: a tail for each partition, also for one without new messages, from where it was read") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.store("p1", 1 -> Seq(0, 0))
      assertEquals(live(topic).tails("p0 0:0, p1 1:1"), Seq("p0 (0:0, known 0:2", "p1 (1:1, known 1:1"))
    }
  }

  test("plan: a new partition is followed from its first message, and so is one that is empty") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      topic.store("p1", 1 -> Seq(0, 0))
      topic.store("p2", 2 -> Nil)
      val run = live(topic)
      assertEquals(run.tails("p0 0:0"), Seq("p1 (1:-1, known 1:1", "p0 (0:0, known 0:0", "p2 (2:-1, known 2:-1"))
      assertEquals(run.merged("p0 0:0, p1 1:1, p2 2:-1"),
        "p0 0:0, p1 1:1, p2 2:-1; added p1 1:-1, p2 2:-1")
    }
  }

  test("plan: nothing is new, and the offset has partitions that joined in its batch: they are not read again") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = live(topic)
      assertEquals(run.tails("p0 0:1; added p0 0:-1"), Seq("p0 (0:1, known 0:1"))
      assertEquals(run.merged("p0 0:1"), "p0 0:1; added p0 0:-1", "the same offset")
    }
  }

  test("plan: the ends that its trigger found count, once, and for its own start alone") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = live(topic)
      run.latest("p0 0:0")
      topic.store("p0", 0 -> Seq(0, 0, 0))
      assertEquals(run.tails("p0 0:0"), Seq("p0 (0:0, known 0:1"))
      assertEquals(run.tails("p0 0:0"), Seq("p0 (0:0, known 0:2"))
      run.latest("p0 0:0")
      topic.store("p0", 0 -> Seq(0, 0, 0, 0))
      assertEquals(run.tails("p0 0:1"), Seq("p0 (0:1, known 0:3"))
    }
  }

  test("plan: a partition that is deleted is missing from the end of its batch on") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      topic.store("p1", 1 -> Seq(0))
      val run = live(topic, goOn)
      topic.delete("p1")
      assertEquals(run.tails("p0 0:0, p1 1:0"), Seq("p0 (0:0, known 0:0"))
      assertEquals(run.merged("p0 0:0"), "p0 0:0; missing p1 1:0")
      assertEquals(run.lost, Seq("PARTITION_MISSING p1 1:0"))
      assertEquals(run.tails("p0 0:0; missing p1 1:0"), Seq("p0 (0:0, known 0:0"))
      assertEquals(run.merged("p0 0:0"), "p0 0:0; missing p1 1:0")
    }
  }

  test("latencies are those of the messages of the last batch, and of no other mode") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val names = Seq("P50", "P99", "Max").map(name => s"pulsarLatency${name}Ms")
      assertEquals(names.flatMap(topic.start().metric), Nil)
      val run                                  = live(topic)
      def latencies(from: String): Seq[String] = {
        val reader = run.source.tailsReaders.reader(run.source.planInputPartitions(topic.offset(from)).head)
        try assert(reader.next(System.nanoTime() + 180L * 1000 * 1000 * 1000))
        finally reader.close()
        names.flatMap(run.metric)
      }
      for (from <- Seq("p0 0:-1", "p0 0:0")) {
        assert(latencies(from).forall(_.toLong > 0))
        run.tails(from)
        assertEquals(names.flatMap(run.metric), Seq.fill(3)("unknown"), "the next batch has begun")
      }
    }
  }

  test("plan: no partition exists: one task waits for the end of the batch") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run = live(topic, "allowMissingTopics" -> "true")
      topic.delete("p0")
      assertEquals(run.source.planInputPartitions(topic.offset("")).toSeq.size, 1)
    }
  }

  test("the end inside an entry: the position in its batch") {
    using { topic =>
      topic.store("p0", 0 -> Seq(5, 5))
      val run = live(topic)
      run.tails("p0 0:-1")
      assertEquals(run.merged("p0 0:1:2"), "p0 0:1:2")
      assertEquals(run.tails("p0 0:1:2"), Seq("p0 (0:1:2, known 0:1"))
    }
  }

  test("a task began after the end of its batch: an error if it goes on for seconds, none before") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run = live(topic)
      run.tails("p0 0:0")
      assertEquals(run.merged("p0 0:0", wasAsked = false), "p0 0:0")
      val deadline = System.nanoTime() + 60L * 1000 * 1000 * 1000
      val e        = intercept[Exception with PulsarError] {
        while (System.nanoTime() - deadline < 0) {
          run.merged("p0 0:0", wasAsked = false)
          LockSupport.parkNanos(10000000) // others need the processors
        }
      }
      assertEquals(e.getCondition, "PULSAR_REAL_TIME_STARVED")
      assertEquals(Seq("tasks", "starved", "partitions").map(e.parameters), Seq("1", "1", "1"))
      assertEquals(run.merged("p0 0:0"), "p0 0:0")
      assertEquals(run.merged("p0 0:0", wasAsked = false), "p0 0:0", "the seconds begin again")
    }
  }

  Seq("maxMessagesPerTrigger" -> "5", "maxBytesPerTrigger" -> "5", "minMessagesPerTrigger" -> "5",
    "minPartitions"           -> "5", "readCompacted"      -> "true").foreach { option =>
    test(s"an option of micro-batches is refused: ${option._1}") {
      using { topic =>
        topic.store("p0", 0 -> Seq(0))
        val e = intercept[Exception with PulsarError](live(topic, option))
        assertEquals(e.getCondition, "PULSAR_REAL_TIME_OPTION")
        assert(e.getMessage.contains(s"no use for ${option._1}:"), e.getMessage)
      }
    }
  }

  test("a task that Spark asks for no row in its first attempt began too late, and says so") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run                                        = live(topic)
      def wasAsked(attempt: Int, asks: Int): Boolean = TaskAttempts.in(attempt) {
        val reader = run.source.tailsReaders.reader(run.source.planInputPartitions(topic.offset("p0 0:-1")).head)
        try {
          (1 to asks).foreach(_ => reader.next(System.nanoTime()))
          reader.finish().wasAsked
        } finally reader.close()
      }
      assert(!wasAsked(attempt = 0, asks = 0))
      assert(wasAsked(attempt = 0, asks = 1), "it had no time left, but it began")
      assert(wasAsked(attempt = 1, asks = 0), "an attempt before it began in time")
    }
  }

  test("another partition is the first one in each batch") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.store("p1", 1 -> Seq(0, 0))
      val run = live(topic, "realTimeTasks" -> "1")
      assertEquals((1 to 3).map(_ => run.tails("p0 0:-1, p1 1:-1").head.take(2)), IndexedSeq("p0", "p1", "p0"))
    }
  }

  test("a partition whose rows take long leaves time for the others") {
    using { topic =>
      topic.store("p0", 0 -> Seq(900))
      topic.store("p1", 1 -> Seq(900))
      val run    = live(topic, "realTimeTasks" -> "1")
      val reader = run.source.tailsReaders.reader(run.source.planInputPartitions(topic.offset("p0 0:-1, p1 1:-1")).head)
      try {
        val deadline          = System.nanoTime() + 60L * 1000 * 1000 * 1000
        var rows              = 0
        def read: Set[String] =
          reader.finish().read.collect { case (p, at) if !at.isWholeEntry => p.takeRight(1) }.toSet
        while (rows < 900 && read.size < 2) {
          assert(reader.next(deadline))
          rows += 1
          LockSupport.parkNanos(2000000) // the work of the query
        }
        assertEquals(read, Set("0", "1"), s"after $rows rows")
      } finally reader.close()
    }
  }
}
