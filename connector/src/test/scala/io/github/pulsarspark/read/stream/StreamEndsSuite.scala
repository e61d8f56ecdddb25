package io.github.pulsarspark.read.stream

import java.nio.file.Files
import java.time.Instant

import org.apache.pulsar.client.impl.MessageIdImpl
import org.apache.spark.sql.connector.read.streaming.ReadLimit

import io.github.pulsarspark.read.stream.StreamCase.Marker
import io.github.pulsarspark.storage.KilledTasks.eventually

/** The start of a stream by [[StreamOrigin]], where its topics end by [[StreamEnds]], and where its micro-batches end
  * by [[StreamLimits]].
  */
class StreamEndsSuite extends StreamSuite {
  import StreamEndsSuite._

  test("initial offset without a start: the ends of the partitions, the same after a restart") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.store("p1", 1 -> Nil)
      assertEquals(topic.start().initial, "p0 0:1, p1 1:-1")
      topic.store("p0", 0 -> Seq(0, 0, 0))
      assertEquals(topic.start().initial, "p0 0:1, p1 1:-1")
    }
  }

  test("initial offset with startingOffsets=earliest: before the first messages") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0), 1 -> Seq(0))
      assertEquals(topic.start("startingOffsets" -> "earliest").initial, "p0 0:-1")
    }
  }

  test("initial offset without the topic: an error, or with allowMissingTopics nothing, and all of it once it exists") {
    using { topic =>
      assertEquals(condition(topic.start().initial), "PULSAR_TOPIC_NOT_FOUND")
      val run = topic.start("allowMissingTopics" -> "true")
      assertEquals(run.initial, "")
      topic.store("p0", 0 -> Seq(0, 0))
      assertEquals(run.latest(""), "p0 0:1; added p0 0:-1")
    }
  }

  test("initial offset in a checkpoint of streamnative/pulsar-spark: its own start") {
    using { topic =>
      val (partition, at) = (topic.name("p0"), topic.position("0:2"))
      val id              = new MessageIdImpl(at.ledgerId, at.entryId, 0).toByteArray
      topic.store("p0", 0 -> Seq(0, 0, 0))
      Files.writeString(topic.checkpoint.resolve("0"), id.mkString(s"""v1\n{"$partition":[""", ",", "]}"))
      assertEquals(topic.start().initial, "p0 0:1")
    }
  }

  private def p0(ledgers: (Int, Seq[Int])*) = "p0" -> ledgers.toSeq
  private def p1(ledgers: (Int, Seq[Int])*) = "p1" -> ledgers.toSeq

  private val rows = Seq(
    "nothing new"                    -> Row("p0 0:1", Seq(p0(0 -> Seq(0, 0))), "p0 0:1"),
    "new messages"                   -> Row("p0 0:0", Seq(p0(0 -> Seq(0, 0))), "p0 0:1"),
    "the rest of a batch"            -> Row("p0 0:1:2", Seq(p0(0 -> Seq(0, 5))), "p0 0:1"),
    "messages in a later ledger"     -> Row("p0 0:1", Seq(p0(0 -> Seq(0, 0), 1 -> Seq(0, 0, 0))), "p0 1:2"),
    "a partition that was not there" ->
      Row("p0 0:1", Seq(p0(0 -> Seq(0, 0)), p1(1 -> Seq(0))), "p0 0:1, p1 1:0; added p1 1:-1"),
    "a deleted partition" ->
      Row("p0 0:1, p1 1:0", Seq(p0(0 -> Seq(0, 0))), "p0 0:1; missing p1 1:0", Seq("PARTITION_MISSING p1 1:0")),
    "a deleted partition before one that exists" ->
      Row("p0 0:1, p1 1:0", Seq(p1(1 -> Seq(0, 0))), "p1 1:1; missing p0 0:1", Seq("PARTITION_MISSING p0 0:1")),
    "a deleted topic" -> Row("p0 0:1, p1 1:0", Nil, "; missing p0 0:1, p1 1:0",
      Seq("TOPIC_DELETED p0 0:1", "TOPIC_DELETED p1 1:0")),
    "a partition that returns" -> Row("p0 0:1; missing p1 1:0", Seq(p0(0 -> Seq(0, 0)), p1(1 -> Seq(0, 0, 0))),
      "p0 0:1, p1 1:2; added p1 1:0"),
    "a partition that returns without its ledgers" -> Row("p0 0:1; missing p1 1:0",
      Seq(p0(0 -> Seq(0, 0)), p1(2 -> Seq(0))), "p0 0:1, p1 2:0; added p1 2:-1"),
    "a partition that ends with an entry of the broker" -> Row("p0 0:2", Seq(p0(0 -> Seq(0, 0, Marker))), "p0 0:2"),
    "a partition that ends before what was read"        ->
      Row("p0 0:5", Seq(p0(0 -> Seq(0, 0))), "p0 0:1; added p0 0:-1", Seq("BEYOND_END p0 0:5")),
    "a partition that has older ledgers alone" ->
      Row("p0 3:0", Seq(p0(0 -> Seq(0, 0))), "p0 0:1; added p0 0:-1", Seq("TOPIC_RECREATED p0 3:0")),
    "a partition that has newer ledgers alone" -> Row("p0 3:0", Seq(p0(7 -> Seq(0))), "p0 7:0")
  )

  for ((what, row) <- rows) test(s"latest offset, $what: ${row.end}") {
    using { topic =>
      row.holds.foreach { case (partition, ledgers) => topic.store(partition, ledgers: _*) }
      val run = topic.start(goOn)
      assertEquals(run.latest(row.read), row.end)
      assertEquals(run.lost, row.lost)
      assertEquals(topic.kept, row.lost)
      assertEquals(run.latest(row.end), row.end, "the next trigger stands there")
      assertEquals(run.lost, row.lost, "each loss is reported once")
      if (row.lost.nonEmpty) {
        val first = row.lost.head.takeWhile(_ != ' ')
        assertEquals(condition(topic.start().latest(row.read)), s"PULSAR_DATA_LOSS.$first")
      }
    }
  }

  test("latest offset, nothing new: the very offset that was read") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val read = topic.offset("p0 0:1")
      assert(topic.start().source.latestOffset(read, ReadLimit.allAvailable) eq read)
    }
  }

  test("latest offset, a topic that the options do not select any more: named so, though it exists") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start(goOn, "topic" -> "another", "allowMissingTopics" -> "true")
      assertEquals(run.latest("p0 0:0"), "; missing p0 0:0")
      assertEquals(run.lost, Seq("TOPIC_NOT_SELECTED p0 0:0"))
    }
  }

  private val later = Some(Instant.now.plusSeconds(3600))

  private def recreated(begun: String, created: Option[Instant], options: (String, String)*): (String, Seq[String]) =
    using { topic =>
      topic.begun(begun)
      topic.created = created
      topic.store("p0", 7 -> Seq(0))
      val run = topic.start(goOn +: options: _*)
      run.latest("p0 3:0") -> run.lost
    }

  test("latest offset, newer ledgers alone: lost and read from the beginning if the topic was created since the start") {
    assertEquals(recreated("p0 0:0", later, adminUrl), "p0 7:0; added p0 7:-1" -> Seq("TOPIC_RECREATED p0 3:0"))
  }

  test("latest offset, newer ledgers alone, in other cases: a task looks for what is lost") {
    val left = ("p0 7:0", Seq.empty[String])
    assertEquals(recreated("p0 0:0", Some(Instant.EPOCH), adminUrl), left, "created before the stream")
    assertEquals(recreated("p0 0:0", None, adminUrl), left, "unknown time")
    assertEquals(recreated("p0 0:0", later), left, "nobody to ask")
    assertEquals(recreated("p1 0:0", later, adminUrl), left, "not there when the stream began")
    assertEquals(recreated("p0 0:0", later, adminUrl, "readCompacted" -> "true"), left, "ledgers of a compacted view")
    assertEquals(recreated("p0 0:0", later, adminUrl, "progressSubscription" -> "mine"), left, "a subscription knows")
  }

  test("latest offset, a watched partition whose empty ledger is dropped: read from its new beginning") {
    using { topic =>
      topic.store("p0", 0 -> Nil)
      val run = topic.start()
      assertEquals(run.latest("p0 0:-1"), "p0 0:-1")
      topic.store("p0", 1 -> Seq(0, 0))
      assertEquals(run.latest("p0 0:-1"), "p0 1:1; added p0 1:-1")
      assertEquals(topic.start().latest("p0 0:-1"), "p0 1:1", "without the watch a task has to look")
    }
  }

  test("latest offset within discoveryInterval: no new partitions; without one they are found at the next trigger") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val slow = topic.start("discoveryInterval" -> "1h")
      slow.latest("p0 0:0")
      topic.store("p1", 1 -> Seq(0))
      assertEquals(slow.latest("p0 0:0"), "p0 0:0")
      val fast = topic.start()
      assertEquals(fast.latest("p0 0:0"), "p0 0:0, p1 1:0; added p1 1:-1")
      topic.store("p2", 2 -> Seq(0))
      assertEquals(fast.latest("p0 0:0, p1 1:0"), "p0 0:0, p1 1:0, p2 2:0; added p2 2:-1")
    }
  }

  test("latest offset, a limit of messages: inside of a batch, and the next one goes on there") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 5, 0))
      val run = topic.start("maxMessagesPerTrigger" -> "3")
      assertEquals(run.latest("p0 0:-1"), "p0 0:1:1")
      assertEquals(run.latest("p0 0:1:1"), "p0 0:1")
      assertEquals(run.latest("p0 0:1"), "p0 0:2")
      assertEquals(run.reported, Some("p0 0:2"))
      assertEquals(run.latest("p0 0:-1", ReadLimit.allAvailable), "p0 0:2", "Trigger.Once has no limit")
    }
  }

  test("latest offset, a limit of bytes where ledgers are listed: the end of a closed ledger") {
    using { topic =>
      topic.store("p0", 0 -> Seq.fill(10)(0), 1 -> Seq.fill(10)(0), 2 -> Seq.fill(10)(0))
      val run = topic.start(adminUrl, "maxBytesPerTrigger" -> "2000")
      assertEquals(run.latest("p0 0:-1"), "p0 0:9")
      assertEquals(run.latest("p0 0:9"), "p0 1:9")
    }
  }

  test("latest offset, a partition that joins under a limit it has no share of: it joins at its beginning") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.store("p1", 1 -> Seq(0))
      assertEquals(topic.start("maxMessagesPerTrigger" -> "1").latest("p0 0:-1"),
        "p0 0:0, p1 1:-1; added p1 1:-1")
    }
  }

  test("latest offset, fewer messages than the least: what was read itself, until maxTriggerDelay is over") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start("minMessagesPerTrigger" -> "2")
      assertEquals(run.latest("p0 0:-1"), "p0 0:1")
      topic.store("p0", 0 -> Seq(0, 0, 0))
      assertEquals(run.latest("p0 0:1"), "p0 0:1")
      topic.store("p0", 0 -> Seq(0, 0, 0, 0))
      assertEquals(run.latest("p0 0:1"), "p0 0:3")
      val impatient = topic.start("minMessagesPerTrigger" -> "9", "maxTriggerDelay" -> "1ms")
      impatient.latest("p0 0:1")
      topic.store("p0", 0 -> Seq(0, 0, 0, 0, 0))
      eventually("no micro-batch")(impatient.latest("p0 0:3") == "p0 0:4")
    }
  }

  test("latest offset of Trigger.AvailableNow: up to the ends of its start, with a limit, and without a wait for more") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start("maxMessagesPerTrigger" -> "2", "minMessagesPerTrigger" -> "2")
      run.source.prepareForTriggerAvailableNow()
      topic.store("p0", 0 -> Seq(0, 0, 0, 0))
      topic.store("p1", 1 -> Seq(0))
      assertEquals(run.latest("p0 0:0"), "p0 0:1", "one message is left")
      assertEquals(run.latest("p0 0:1"), "p0 0:1", "what came later is not read, also not of a new partition")
    }
  }

  test("latest offset of Trigger.AvailableNow, after a micro-batch: what is left is less than the least, and is read") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      val run = topic.start("maxMessagesPerTrigger" -> "2", "minMessagesPerTrigger" -> "2")
      run.source.prepareForTriggerAvailableNow()
      assertEquals(run.latest("p0 0:-1"), "p0 0:1")
      assertEquals(run.latest("p0 0:1"), "p0 0:2")
    }
  }

  test("ends of Trigger.AvailableNow: of a new list of partitions, although discoveryInterval is not over") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run = topic.start("discoveryInterval" -> "1h")
      run.latest("p0 0:0")
      topic.store("p1", 1 -> Seq(0))
      run.source.prepareForTriggerAvailableNow()
      assertEquals(run.latest("p0 0:0"), "p0 0:0, p1 1:0; added p1 1:-1")
    }
  }

  test("latest offset, a new partition without messages under a limit: it joins, and is not new again") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.store("p1", 1 -> Nil)
      assertEquals(topic.start("maxMessagesPerTrigger" -> "1").latest("p0 0:-1"), "p0 0:0, p1 1:-1; added p1 1:-1")
    }
  }

  test("latest offset, a limit of a stream that starts at a time: messages from before it do not count") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      val run = topic.start("startingTime" -> "2100-01-01T00:00:00Z", "maxMessagesPerTrigger" -> "1")
      assertEquals(run.initial, "p0 0:1")
      topic.store("p0", 0 -> Seq(0, 0, 0, 0))
      assertEquals(run.latest("p0 0:1"), "p0 0:3")
    }
  }

  test("latest offset without a start: an internal error, since Spark never calls it") {
    using(topic => assertEquals(condition(topic.start().source.latestOffset()), "PULSAR_INTERNAL"))
  }

  test("default limit: that of the options, all of them, else none") {
    using { topic =>
      assertEquals(topic.start().source.getDefaultReadLimit, ReadLimit.allAvailable)
      assertEquals(topic.start("maxMessagesPerTrigger" -> "3").source.getDefaultReadLimit, ReadLimit.maxRows(3))
    }
  }
}

private object StreamEndsSuite {

  /** A trigger after the start of a stream.
    *
    * @param holds
    *   what partitions hold then
    * @param lost
    *   what is reported, which is an error unless the stream is to go on
    */
  final case class Row(
      read: String,
      holds: Seq[(String, Seq[(Int, Seq[Int])])],
      end: String,
      lost: Seq[String] = Nil
  )
}
