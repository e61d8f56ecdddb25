package io.github.pulsarspark.catalog

import io.github.pulsarspark.UnitSuite
import io.github.pulsarspark.errors.{PulsarError, PulsarInputException}

class CatalogNamesSuite extends UnitSuite {

  private val names = new CatalogNames("pulsar", ("public", "default"), Set("messages", "ledgers"))

  private def topic(name: String)                  = Located.Topic(s"persistent://$name")
  private def metadata(name: String, view: String) = Located.Metadata(s"persistent://$name", view)

  private def condition(body: => Any): (String, String) = {
    val e = intercept[PulsarInputException with PulsarError](body)
    (e.condition, e.getMessage)
  }

  private val accepted: Seq[(Seq[String], String, Seq[Located])] = Seq(
    (Nil, "orders", Seq(topic("public/default/orders"))),
    (Seq("default"), "orders", Seq(topic("public/default/orders"))),
    (Seq("public", "default"), "orders", Seq(topic("public/default/orders"))),
    (Seq("sales", "eu"), "orders", Seq(topic("sales/eu/orders"))),
    (Seq("sales/eu"), "orders", Seq(topic("sales/eu/orders"))),
    (Seq("sales.eu"), "orders", Seq(topic("sales/eu/orders"))),
    (Seq("v1.0.2"), "orders", Seq(topic("public/v1.0.2/orders"))),
    (Seq("my-space"), "my-topic.v2$x", Seq(topic("public/my-space/my-topic.v2$x"))),
    (Seq("public", "default"), "testTopic", Seq(topic("public/default/testTopic"))),
    (Seq("public", "default"), "x-partition-3", Seq(topic("public/default/x-partition-3"))),
    (Seq("Sales", "EU"), "Orders", Seq(topic("Sales/EU/Orders"))),
    // metadata, a topic of that name first
    (Seq("sales", "eu", "orders"), "ledgers", Seq(metadata("sales/eu/orders", "ledgers"))),
    (Seq("eu", "orders"), "ledgers", Seq(topic("eu/orders/ledgers"), metadata("public/eu/orders", "ledgers"))),
    (Seq("sales/eu", "orders"), "messages", Seq(metadata("sales/eu/orders", "messages"))),
    (Seq("sales.eu", "orders"), "messages",
      Seq(topic("sales.eu/orders/messages"), metadata("sales/eu/orders", "messages"))),
    (Seq("orders"), "ledgers", Seq(topic("public/orders/ledgers"), metadata("public/default/orders", "ledgers"))),
    (Nil, "ledgers", Seq(topic("public/default/ledgers"))),
    (Seq("sales", "eu", "ledgers"), "ledgers", Seq(metadata("sales/eu/ledgers", "ledgers"))),
    // names of nothing
    (Seq("sales", "eu", "orders"), "Ledgers", Nil),
    (Seq("sales", "cluster", "eu"), "orders", Nil),
    (Seq("a", "b", "c", "d"), "ledgers", Nil),
    // those of other data sources
    (Seq("parquet"), "/tmp/x", Nil),
    (Seq("csv"), "s3a://bucket/x.csv", Nil),
    (Seq("public/x", "y"), "orders", Nil),
    (Seq(""), "orders", Nil)
  )
  accepted.foreach { case (namespace, name, expected) =>
    test(s"${(namespace :+ name).mkString("`", "`.`", "`")}") {
      assertEquals(names.candidates(namespace, name), expected)
    }
  }

  test("illegal names are refused in words") {
    Seq(
      Seq("public", "default") -> "persistent://public/default/orders",
      Seq("public", "default") -> "non-persistent://public/default/orders",
      Seq("public", "default") -> "a/b",
      Nil                      -> "a/b",
      Seq("public", "default") -> "",
      Seq("a b", "default")    -> "orders"
    ).foreach { case (namespace, name) =>
      assertEquals(condition(names.candidates(namespace, name))._1, "PULSAR_TOPIC_NAME", s"$namespace $name")
    }
    val (old, text) = condition(names.candidates(Seq("sales/cluster/eu"), "orders"))
    assertEquals(old, "PULSAR_CATALOG_NAME")
    assert(text.contains("old clusters"), text)
  }

  test("CREATE takes names of topics alone") {
    assertEquals(names.created(Seq("sales", "eu"), "orders"), "persistent://sales/eu/orders")
    assertEquals(names.created(Nil, "ledgers"), "persistent://public/default/ledgers")
    assertEquals(names.created(Seq("eu"), "orders"), "persistent://public/eu/orders")
    Seq(
      (Seq("sales", "eu", "orders"), "ledgers", "PULSAR_CATALOG_NAME", "metadata table"),
      (Seq("sales", "eu", "orders"), "more", "PULSAR_CATALOG_NAME", "no tenant, namespace and topic"),
      (Seq("sales", "eu"), "x-partition-3", "PULSAR_TOPIC_NAME", "partition"),
      (Seq("sales", "eu"), "a/b", "PULSAR_TOPIC_NAME", "without `/`")
    ).foreach { case (namespace, name, expected, word) =>
      val (found, text) = condition(names.created(namespace, name))
      assertEquals(found, expected)
      assert(text.contains(word), text)
    }
  }

  test("namespaces") {
    assertEquals(names.namespace(Nil), Some(("public", "default")))
    assertEquals(names.namespace(Seq("eu")), Some(("public", "eu")))
    assertEquals(names.namespace(Seq("sales", "eu")), Some(("sales", "eu")))
    assertEquals(names.namespace(Seq("sales", "eu", "orders")), None)
  }

  test("scalable topics of Pulsar 5 are refused as such") {
    val calls = Seq[() => Any](
      () => names.candidates(Nil, "topic://public/default/orders"),
      () => names.candidates(Seq("default"), "segment://public/default/orders/0"),
      () => names.candidates(Seq("topic://public/default"), "orders"),
      () => names.namespace(Seq("topic://public/default")),
      () => names.created(Seq("public", "default"), "topic://public/default/orders")
    )
    calls.zipWithIndex.foreach { case (call, number) =>
      assertEquals(condition(call())._1, "PULSAR_TOPIC_SCALABLE", number)
    }
  }
}
