package io.github.pulsarspark.read.stream

import io.github.pulsarspark.storage.KilledTasks.eventually

/** A stream with a progress subscription at a broker: where it starts, what it acknowledges, and what may be gone. */
class SubscribedStreamSuite extends StreamSuite {

  private val mine = "progressSubscription" -> "mine"

  private def becomes(topic: StreamCase, partition: String, at: String): Unit =
    eventually(s"the cursor of $partition is ${topic.cursor("mine", partition)}, not $at")(
      topic.cursor("mine", partition).contains(at)
    )

  test("a trigger acknowledges what was read before it, and never the micro-batch that it begins") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0, 0))
      val run = topic.start(mine, "maxMessagesPerTrigger" -> "1")
      assertEquals(run.latest("p0 0:1"), "p0 0:2")
      becomes(topic, "p0", "0:0")
      assertEquals(run.latest("p0 0:2"), "p0 0:3")
      becomes(topic, "p0", "0:1")
      assertEquals(run.latest("p0 0:3"), "p0 0:3")
      becomes(topic, "p0", "0:3")
    }
  }

  test("a new partition is subscribed to from its first message") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run = topic.start(mine)
      run.latest("p0 0:0")
      topic.store("p1", 1 -> Seq(0, 0))
      run.latest("p0 0:0")
      becomes(topic, "p0", "0:0")
      becomes(topic, "p1", "1:-1")
    }
  }

  test("a ledger that was acknowledged is deleted while nobody reads: the next run begins after it") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.start(mine).latest("p0 0:1")
      becomes(topic, "p0", "0:1")
      topic.store("p0", 1 -> Seq(0))
      val next = topic.start(mine)
      assertEquals(next.latest("p0 0:1"), "p0 1:0")
      assertEquals(next.ranges("p0 0:1", "p0 1:0"), Seq("p0 (1:-1, 1:0] broker"))
      assertEquals(topic.start().ranges("p0 0:1", "p0 1:0"), Seq("p0 (0:1, 1:0] broker"),
        "without the subscription a task looks for the messages between")
    }
  }

  test("a limit is counted from the message after a ledger that was acknowledged and deleted") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0))
      topic.start(mine).latest("p0 0:1")
      becomes(topic, "p0", "0:1")
      topic.store("p0", 1 -> Seq(0, 0, 0))
      assertEquals(topic.start(mine, "maxMessagesPerTrigger" -> "2").latest("p0 0:1"), "p0 1:1")
    }
  }

  test("a ledger that nobody acknowledged is deleted: a task looks for its messages") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0, 0), 1 -> Seq(0))
      topic.subscribe("mine", "p0", "1:-1")
      topic.trim("p0", 1)
      val run = topic.start(mine)
      assertEquals(run.latest("p0 0:0"), "p0 1:0")
      assertEquals(run.ranges("p0 0:0", "p0 1:0"), Seq("p0 (0:0, 1:0] broker"))
    }
  }

  test("a stream that starts at the subscription: where it is; with another start: there, whatever it has") {
    def initial(options: (String, String)*) = using { topic =>
      topic.store("p0", 0 -> Seq(0, 0, 0))
      topic.subscribe("mine", "p0", "0:0")
      topic.start(mine +: options: _*).initial
    }
    assertEquals(initial("startingOffsets" -> "subscription"), "p0 0:0")
    assertEquals(initial(), "p0 0:2")
    assertEquals(initial("startingOffsets" -> "earliest"), "p0 0:-1")
  }

  test("a start at a subscription that does not exist is refused") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      assertEquals(condition(topic.start(mine, "startingOffsets" -> "subscription").initial),
        "PULSAR_SUBSCRIPTION_NOT_FOUND")
    }
  }

  test("the end of a stream closes the consumers of the subscription, which stays where it is") {
    using { topic =>
      topic.store("p0", 0 -> Seq(0))
      val run = topic.start(mine)
      run.latest("p0 0:0")
      becomes(topic, "p0", "0:0")
      assert(cluster.consumers > 0)
      run.source.stop()
      eventually(s"${cluster.consumers} consumers")(cluster.consumers == 0)
      assertEquals(topic.cursor("mine", "p0"), Some("0:0"))
    }
  }
}
