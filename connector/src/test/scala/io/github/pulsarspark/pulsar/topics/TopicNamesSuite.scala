package io.github.pulsarspark.pulsar.topics

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.PulsarError

class TopicNamesSuite extends UnitSuite {

  test("short names are completed") {
    assertEquals(TopicNames.full("events"), "persistent://public/default/events")
    assertEquals(TopicNames.full("t/n/events"), "persistent://t/n/events")
    assertEquals(TopicNames.full("persistent://t/n/e"), "persistent://t/n/e")
  }

  test("malformed and non-persistent names are refused") {
    Seq("non-persistent://public/default/t", "a/b", "http://x/y/z", "").foreach { name =>
      assertEquals(intercept[IllegalArgumentException with PulsarError](TopicNames.full(name)).condition,
        "PULSAR_TOPIC_NAME", name)
    }
  }

  test("scalable topics of Pulsar 5 are refused as such, whatever the client says of them") {
    Seq("topic://a/b/c", " topic://a/b/c", "segment://a/b/c/0000-7fff-1", "topic://").foreach { name =>
      val error = intercept[IllegalArgumentException with PulsarError](TopicNames.full(name))
      assertEquals(error.condition, "PULSAR_TOPIC_SCALABLE", name)
      assertEquals(error.parameters("topic"), name.trim)
    }
    assertEquals(TopicNames.full("persistent://a/b/topic:"), "persistent://a/b/topic:")
  }

  test("partitions are numbered, and a topic without them stands for itself") {
    assertEquals(TopicNames.partitions("persistent://a/b/c", 0), Seq("persistent://a/b/c"))
    assertEquals(TopicNames.partitions("persistent://a/b/c", 2),
      Seq("persistent://a/b/c-partition-0", "persistent://a/b/c-partition-1"))
    assertEquals(TopicNames.partitionIndex("persistent://a/b/c-partition-7"), 7)
    assertEquals(TopicNames.partitionIndex("persistent://a/b/c"), -1)
  }

  test("a selection includes its topics and their partitions") {
    import io.github.pulsarspark.options.TopicSelection.{Matching, Named}
    assert(TopicNames.includes(Named(Seq("a", "b-partition-1")), "persistent://public/default/a-partition-0"))
    assert(TopicNames.includes(Named(Seq("a", "b-partition-1")), "b"))
    assert(!TopicNames.includes(Named(Seq("a", "b-partition-1")), "b-dlq"))
    assert(TopicNames.includes(Matching("t/n/orders.*"), "t/n/orders-dlq"))
    assert(!TopicNames.includes(Matching("orders.*"), "t/n/orders-dlq"))
    assert(!TopicNames.includes(Matching("t/n/orders"), "t/n/orders-dlq"))
  }

  test("a pattern is a namespace and an expression") {
    def parts(text: String) = { val (n, p) = TopicNames.pattern(text); (n.toString, p.pattern) }
    assertEquals(parts("orders-.*"), ("public/default", "orders-.*"))
    assertEquals(parts("t/n/a/b"), ("t/n", "a/b"))
    assertEquals(parts("persistent://t/n/x.*"), ("t/n", "x.*"))
    intercept[IllegalArgumentException](TopicNames.pattern("t/x"))
  }

  test("a pattern matches whole names, and no internal topic") {
    val all = Seq("a-1", "a-2", "ba-1", "__change_events", "__transaction_buffer_snapshot").map("persistent://t/n/" + _)
    assertEquals(TopicNames.matching(all, "a-.*".r.pattern), Seq("persistent://t/n/a-1", "persistent://t/n/a-2"))
  }

  test("control topics of sinks are matched only by a pattern that names them") {
    val control = Seq("log", "open", "mark").map(kind => s"persistent://t/n/pulsar-spark-sink-trips-$kind")
    val own     = "persistent://t/n/pulsar-spark-sink-of-the-user"
    assertEquals(TopicNames.matching(control :+ own, ".*".r.pattern), Seq(own))
    assertEquals(TopicNames.matching(control :+ own, "pulsar-spark-sink-trips-.*".r.pattern), control.sorted)
  }
}
