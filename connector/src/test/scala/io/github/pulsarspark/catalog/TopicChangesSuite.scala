package io.github.pulsarspark.catalog

import scala.util.Using

import org.apache.pulsar.common.api.proto.ServerError
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException, TableAlreadyExistsException}
import org.apache.spark.sql.connector.catalog.Identifier
import org.apache.spark.sql.types.{IntegerType, StringType, StructField, StructType}

import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.schema.TopicSchema
import io.github.pulsarspark.schema.columns.OutgoingMessage

/** Topics that statements make, change and delete, by [[TopicChanges]]: what becomes of topics that others use. */
class TopicChangesSuite extends WriteSuite {

  private def changes(more: (String, String)*): TopicChanges = new TopicChanges(CatalogOptions(
    "cat",
    Map("service.url" -> cluster.serviceUrl, "admin.url" -> cluster.adminUrl) ++ more,
    _ => Nil
  ))

  private val dropping = "allowDrop" -> "true"
  private val value    = StructType(Seq(StructField("value", StringType)))

  private def ident(name: String) = Identifier.of(Array("public", "default"), name)

  private def create(name: String, partitions: Int = 0, columns: StructType = value): CreatedTopic =
    changes().create(ident(name), topic(name), TopicDefinition(columns, partitions, Map.empty))

  private def partitions(name: String): Set[String] =
    cluster.names.filter(_.startsWith(topic(name))).map(_.stripPrefix(topic(name)))

  /** Sends a message by a producer of this name. */
  private def send(name: String, producer: String): Unit = Using.resource(PulsarConnection(client())) { connection =>
    Using.resource(connection.producer(name, TopicSchema.Bytes, options("pulsar.producer.producerName" -> producer))) {
      p =>
        val message = new OutgoingMessage
        message.value = Array[Byte](1)
        p.send(message)
        p.flush()
    }
  }

  test("create: a topic, or its partitions, and a producer that registers the schema") {
    assertEquals(create("one").partitions, Seq(topic("one")))
    assertEquals(partitions("one"), Set(""))
    assertEquals(requests().filter(_.startsWith("producer")), Seq("producer one Shared"))
    create("three", partitions = 3)
    assertEquals(partitions("three"), Set("-partition-0", "-partition-1", "-partition-2"))
    assert(requests().exists(_.startsWith("producer three-partition-")))
    create("bare", columns = new StructType)
    assertEquals(requests().filter(_.startsWith("producer")), Nil, "a topic without columns has no schema")
  }

  test("create of a topic that exists, or in a namespace that does not: refused, and the topic stays") {
    store("there")
    intercept[TableAlreadyExistsException](create("there"))
    intercept[TableAlreadyExistsException](create("there", partitions = 2))
    assertEquals(partitions("there"), Set(""))
    intercept[NoSuchNamespaceException](changes().create(Identifier.of(Array("a", "b"), "t"), "persistent://a/b/t",
      TopicDefinition(value, 0, Map.empty)))
  }

  test("create of a topic whose schema is refused: the topic is deleted again") {
    cluster.writes.closed = Seq("vain", "vains-partition-0", "vains-partition-1")
      .map(name => topic(name) -> ServerError.IncompatibleSchema).toMap
    try {
      condition(create("vain"))
      condition(create("vains", partitions = 2))
    } finally cluster.writes.closed = Map.empty
    assertEquals(partitions("vain"), Set.empty[String])
    assertEquals(partitions("vains"), Set.empty[String])
  }

  test("undo: a topic with the rows of its statement alone is deleted, one with a message of others stays") {
    val own = create("own", partitions = 2)
    send(topic("own-partition-1"), s"${own.producerPrefix}1")
    changes().undo(own)
    assertEquals(partitions("own"), Set.empty[String])
    val shared = create("shared", partitions = 2)
    send(topic("shared-partition-1"), "somebody")
    changes().undo(shared)
    assertEquals(partitions("shared"), Set("-partition-0", "-partition-1"))
  }

  test("undo of a topic that is in use or gone, or without an admin service: never an error") {
    val used = create("used")
    cluster.use(topic("used"))
    try changes().undo(used)
    finally cluster.use()
    assertEquals(partitions("used"), Set(""))
    changes().undo(CreatedTopic(topic("gone"), 0, "p-"))
    new TopicChanges(CatalogOptions("cat", Map("service.url" -> cluster.serviceUrl), _ => Nil)).undo(used)
    assertEquals(partitions("used"), Set(""))
  }

  test("drop: only where the catalog allows it, and nothing is requested elsewhere") {
    store("kept")
    cluster.takeAdminRequests()
    assertEquals(condition(changes().drop(topic("kept"))), "PULSAR_CATALOG_STATEMENT")
    assertEquals((partitions("kept"), cluster.takeAdminRequests()), (Set(""), Nil))
    assert(changes(dropping).drop(topic("kept")))
    assertEquals(partitions("kept"), Set.empty[String])
    assert(!changes(dropping).drop(topic("kept")), "it is gone")
  }

  test("drop of a topic with partitions: all of them; of one that is in use: an error that says so") {
    create("wide", partitions = 2)
    cluster.use(topic("wide"))
    try assertEquals(condition(changes(dropping).drop(topic("wide"))), "PULSAR_TOPIC_IN_USE")
    finally cluster.use()
    assertEquals(partitions("wide").size, 2)
    assert(changes(dropping).drop(topic("wide")))
    assertEquals(partitions("wide"), Set.empty[String])
  }

  test("alter: more partitions; columns of a topic without fields are refused; a topic that is missing is named") {
    create("grows", partitions = 2)
    changes().alter(ident("grows"), topic("grows"), Alteration(partitions = Some(4)))
    assertEquals(partitions("grows").size, 4)
    val column = StructType(Seq(StructField("more", IntegerType)))
    assertEquals(condition(changes().alter(ident("grows"), topic("grows"), Alteration(columns = column))),
      "PULSAR_CATALOG_STATEMENT")
    Seq(Alteration(partitions = Some(4)), Alteration(columns = column)).foreach(alteration =>
      intercept[NoSuchTableException](changes().alter(ident("none"), topic("none"), alteration))
    )
  }

  test("a statement that needs the admin service, in a catalog without one: an error that says so") {
    store("plain")
    val plain = new TopicChanges(CatalogOptions("cat", Map("service.url" -> cluster.serviceUrl, dropping), _ => Nil))
    assertEquals(condition(plain.drop(topic("plain"))), "PULSAR_CATALOG_ADMIN")
  }
}
