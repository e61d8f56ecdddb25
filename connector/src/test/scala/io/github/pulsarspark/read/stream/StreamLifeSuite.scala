package io.github.pulsarspark.read.stream

import java.nio.file.Files

import io.github.pulsarspark.storage.KilledTasks.eventually

/** Offsets of checkpoints, figures, losses of tasks by [[loss.StreamLosses]], and the end of a stream. */
class StreamLifeSuite extends StreamSuite {

  test("offset of the checkpoint: read as it was written, by a later run too") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 5))
      val text = topic.offset("p0 0:2:3; added p0 0:-1; missing p1 1:2").json
      assertEquals(topic.start().source.deserializeOffset(text).json, text)
    }
  }

  test("offset of the checkpoint that is no offset: an error that names the checkpoint") {
    using { topic =>
      val error = intercept[RuntimeException](topic.start().source.deserializeOffset("{}"))
      assert(error.getMessage.contains(topic.checkpoint.toString), error.getMessage)
    }
  }

  test("start that is no offset: an error that names the file") {
    using { topic =>
      val file = Files.writeString(topic.checkpoint.resolve("initial-offset.json"), "[]")
      val run  = topic.start()
      val e    = intercept[RuntimeException](run.source.initialOffset())
      assert(e.getMessage.contains(file.getFileName.toString), e.getMessage)
    }
  }

  test("figures of the backlog: unknown before the first trigger, then by what it found, without a request") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.store("p1", 1 -> Seq(0))
      val run = topic.start("maxMessagesPerTrigger" -> "2")
      assertEquals(run.metrics(Some("p0 0:0, p1 1:0")).get("pulsarPartitionsBehind"), Some("unknown"))
      run.latest("p0 0:-1, p1 1:0")
      topic.store("p0", 0 -> Seq.fill(9)(0))
      val found = run.metrics(Some("p0 0:0, p1 1:0"))
      assertEquals(Seq("pulsarPartitionsBehind", "pulsarBacklogEntries", "pulsarWorstPartition").flatMap(found.get),
        Seq("1", "2", topic.name("p0")))
      assertEquals(run.metrics(None).get("pulsarBacklogEntries"), Some("unknown"), "nothing was read")
    }
  }

  test("figures of the backlog over ledgers: known once the list of ledgers has arrived") {
    using { topic =>
      topic.store("p0", 0 -> Seq.fill(10)(0), 1 -> Seq.fill(10)(0), 2 -> Seq(0))
      val run = topic.start(adminUrl, "maxMessagesPerTrigger" -> "2")
      run.latest("p0 0:-1")
      eventually("no figure")(run.metrics(Some("p0 0:1")).get("pulsarBacklogEntries").contains("19"))
    }
  }

  test("loss that a task finds: counted, and kept before the micro-batch ends") {
    using { topic =>
      topic.store("p0", 3 -> Seq(0, 0))
      val run = topic.start(goOn)
      assertEquals(run.rows("p0 0:5", "p0 3:1"), 2)
      assertEquals(run.lost, Seq("TRIMMED p0 0:5"))
      assertEquals(topic.kept, Seq("TRIMMED p0 0:5"))
      assertEquals(run.metric("pulsarDataLoss"), Some("1"))
    }
  }

  test("loss that a plan finds: kept before the micro-batch ends, of which a later run would not know") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.start(goOn).plan("p0 0:0, p1 1:0", "p0 0:1, p1 1:3")
      assertEquals(topic.kept, Seq("PARTITION_MISSING p1 1:0"))
    }
    def trimmed(plan: (StreamCase, StreamCase#Run) => Any) = using { topic =>
      topic.store("p0", 1 -> Seq(0, 0), 2 -> Seq(0))
      plan(topic, topic.start(goOn, adminUrl, "readLevel" -> "segment"))
      topic.kept
    }
    assertEquals(trimmed((_, run) => run.plan("p0 0:0", "p0 1:1")), Seq("TRIMMED p0 0:0"), "by the list of ledgers")
    val live = trimmed { (topic, run) =>
      run.source.prepareForRealTimeMode()
      run.source.planInputPartitions(topic.offset("p0 0:0"))
    }
    assertEquals(live, Seq("TRIMMED p0 0:0"), "in real-time mode")
  }

  test("schemas that the query reads with: kept for its next start at the first trigger, also without a message") {
    using { topic =>
      topic.store("p0", 0 -> Nil)
      val folder = topic.checkpoint.resolve("schemas")
      topic.start("schemaTrackingLocation" -> folder.toString).latest("p0 0:-1")
      assert(Files.readString(folder.resolve("0.json")).contains(topic.topic))
    }
  }

  test("figures of what was read: by tier") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 5))
      val run = topic.start()
      assertEquals(run.rows("p0 0:-1", "p0 0:1"), 6)
      assertEquals(run.metric("pulsarBrokerRows"), Some("6"))
    }
  }

  test("commit: nothing, for the checkpoint has it") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      topic.start().source.commit(topic.offset("p0 0:0"))
      assertEquals(Files.list(topic.checkpoint).count(), 0L)
    }
  }

  test("stop: every consumer ends, also without a first trigger and twice") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.store("p1", 1 -> Nil)
      topic.start().source.stop()
      val run = topic.start("maxMessagesPerTrigger" -> "1")
      run.latest("p0 0:-1, p1 1:-1")
      run.rows("p0 0:-1", "p0 0:0")
      assert(cluster.consumers > 0)
      run.source.stop()
      run.source.stop()
      eventually(s"${cluster.consumers} consumers")(cluster.consumers == 0)
    }
  }

  test("name in the progress of a query: the topics") {
    using(topic => assertEquals(topic.start().source.toString, s"Pulsar[${topic.topic}]"))
  }
}
