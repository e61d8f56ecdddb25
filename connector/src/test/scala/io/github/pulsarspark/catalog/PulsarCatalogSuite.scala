package io.github.pulsarspark.catalog

import java.util.{Collections, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.connector.catalog.{Column, Identifier, Table, TableCapability, TableWritePrivilege}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.BinaryType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.{LocalSpark, UnitSuite}
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicLedger}
import io.github.pulsarspark.errors.PulsarError

/** A catalog over a scripted cluster without an admin service: what [[TopicTables]] and [[CatalogNamespaces]] find, and
  * which statements it refuses.
  */
class PulsarCatalogSuite extends UnitSuite with LocalSpark {

  private val cluster = new ScriptedCluster

  override def beforeAll(): Unit = {
    Configurator.setLevel("org.apache.pulsar", Level.OFF)
    super.beforeAll()
    Seq("t", "parts-partition-0", "parts-partition-1").zipWithIndex.foreach { case (name, i) =>
      cluster.add(StoredTopic(s"persistent://public/default/$name", Vector(TopicLedger(10L + i, Vector.empty))))
    }
  }

  override def afterAll(): Unit =
    try cluster.close()
    finally {
      super.afterAll()
      Configurator.setLevel("org.apache.pulsar", Level.INFO)
    }

  private def catalog(options: (String, String)*): PulsarCatalog = {
    val result = new PulsarCatalog
    result.initialize("cat", new CaseInsensitiveStringMap((Map("service.url" -> cluster.serviceUrl) ++ options).asJava))
    result
  }

  private lazy val plain = catalog()

  private def named(parts: String*): Identifier = Identifier.of(parts.init.toArray, parts.last)
  private val t                                 = named("public", "default", "t")
  private val absent                            = named("public", "default", "absent")

  private def refused(condition: String)(body: => Any): Map[String, String] = {
    val e = intercept[RuntimeException with PulsarError](body)
    assertEquals(e.condition, condition)
    e.parameters
  }

  private def columns(table: Table): Seq[String] = table.columns.map(_.name).toSeq

  test("a topic by its names of one, two and three parts, and its properties") {
    Seq(Seq("t"), Seq("default", "t"), Seq("public", "default", "t"), Seq("public/default", "t")).foreach(parts =>
      assertEquals(columns(plain.loadTable(named(parts: _*))), Seq("value"), parts.toString)
    )
    assertEquals(plain.loadTable(t).properties.asScala.toMap, Map("provider" -> "pulsar", "schemaType" -> "bytes"))
    assertEquals(plain.loadTable(named("parts")).properties.get("partitions"), "2")
  }

  test("a name without a topic is no table, and one request tells") {
    intercept[NoSuchTableException](plain.loadTable(absent))
    assertEquals(Seq(t, absent, named("a", "b", "c", "d")).map(plain.tableExists), Seq(true, false, false))
  }

  test("the tables of a namespace: topics, each partitioned one as one") {
    assertEquals(plain.listTables(Array("public", "default")).toSeq, Seq(named("public", "default", "parts"), t))
    assertEquals(plain.listTables(Array("default")).toSeq, Seq(named("default", "parts"), named("default", "t")))
    intercept[NoSuchNamespaceException](plain.listTables(Array("a", "b", "c")))
  }

  test("the metadata tables of a topic, of topics that exist") {
    assert(columns(plain.loadTable(named("public", "default", "t", "messages"))).contains("__messageId"))
    assert(columns(plain.loadTable(named("default", "t", "partitions"))).contains("partition"))
    intercept[NoSuchTableException](plain.loadTable(named("default", "absent", "partitions")))
    intercept[NoSuchTableException](plain.loadTable(named("public", "default", "absent", "messages")))
  }

  test("a table as it was can be read in a batch, and nothing else") {
    val past = plain.loadTable(t, "latest")
    assertEquals(past.capabilities, Collections.singleton(TableCapability.BATCH_READ))
    assert(plain.loadTable(t).capabilities.contains(TableCapability.STREAMING_WRITE))
    assertEquals(plain.loadTable(t, 1000L).capabilities, past.capabilities)
    assertEquals(refused("PULSAR_TIME_TRAVEL")(plain.loadTable(t, Long.MaxValue))("clause"), "TIMESTAMP AS OF")
    refused("PULSAR_TIME_TRAVEL")(plain.loadTable(named("default", "t", "partitions"), "latest"))
  }

  test("rows can be added to a table, but neither changed nor deleted") {
    def load(ident: Identifier, privileges: TableWritePrivilege*) = plain.loadTable(ident, JSet.of(privileges: _*))
    load(t, TableWritePrivilege.INSERT)
    Seq(
      Seq(TableWritePrivilege.UPDATE)                             -> "UPDATE or MERGE",
      Seq(TableWritePrivilege.DELETE)                             -> "DELETE or MERGE",
      Seq(TableWritePrivilege.INSERT, TableWritePrivilege.DELETE) -> "An overwrite or MERGE",
      Seq(TableWritePrivilege.UPDATE, TableWritePrivilege.DELETE) -> "MERGE"
    ).foreach { case (privileges, statement) =>
      assertEquals(refused("PULSAR_CATALOG_STATEMENT")(load(t, privileges: _*))("statement"),
        s"$statement of table public.default.t")
    }
    refused("PULSAR_METADATA_READ_ONLY")(load(named("default", "t", "partitions"), TableWritePrivilege.DELETE))
  }

  private def statement(body: => Any): String = refused("PULSAR_CATALOG_STATEMENT")(body)("statement")

  test("a topic is deleted only where the catalog allows it, by the admin service") {
    assertEquals(statement(plain.dropTable(t)), "DROP TABLE of topic persistent://public/default/t")
    val allowing = catalog("allowDrop" -> "true")
    assertEquals(refused("PULSAR_CATALOG_ADMIN")(allowing.dropTable(t)),
      Map("statement" -> "DROP TABLE", "catalog" -> "cat"))
  }

  private val none    = Array.empty[Transform]
  private val bytes   = Array(Column.create("value", BinaryType))
  private val unnamed = Collections.emptyMap[String, String]

  test("CREATE needs the admin service, and a name that is no partition of another topic") {
    assertEquals(refused("PULSAR_CATALOG_ADMIN")(plain.createTable(absent, bytes, none, unnamed))("statement"),
      "CREATE TABLE")
    refused("PULSAR_TOPIC_NAME")(plain.createTable(named("x-partition-1"), bytes, none, unnamed))
    refused("PULSAR_CATALOG_NAME")(plain.createTable(named("public", "default", "t", "lag"), bytes, none, unnamed))
  }

  test("a table is never replaced: one that exists, or with REPLACE alone") {
    assertEquals(statement(plain.stageReplace(absent, bytes, none, unnamed)), "Replacing table public.default.absent")
    assertEquals(statement(plain.stageCreateOrReplace(t, bytes, none, unnamed)), "Replacing table public.default.t")
    refused("PULSAR_CATALOG_ADMIN")(plain.stageCreateOrReplace(absent, bytes, none, unnamed))
    assertEquals(statement(plain.renameTable(t, absent)), "RENAME")
  }

  test("namespaces belong to the cluster, whatever a statement wants of them") {
    val space = Array("a", "b")
    assertEquals(statement(plain.createNamespace(space, unnamed)), "CREATE NAMESPACE")
    assertEquals(statement(plain.alterNamespace(space)), "ALTER NAMESPACE")
    assertEquals(statement(plain.dropNamespace(space, true)), "DROP NAMESPACE")
    assert(plain.loadNamespaceMetadata(space).isEmpty, "no request tells whether it exists")
    intercept[NoSuchNamespaceException](plain.loadNamespaceMetadata(Array("a", "b", "c")))
  }

  private def shown(namespaces: Array[Array[String]]) = namespaces.map(_.mkString("/")).toSeq

  test("without an admin service, the namespaces that the catalog lists, or the default one") {
    assertEquals(plain.defaultNamespace.toSeq, Seq("public", "default"))
    assertEquals(shown(plain.listNamespaces()), Seq("public"))
    assertEquals(shown(plain.listNamespaces(Array("public"))), Seq("public/default"))
    intercept[NoSuchNamespaceException](plain.listNamespaces(Array("a")))
    val listing = catalog("namespaces" -> "b/y, a/x, b/x")
    assertEquals(shown(listing.listNamespaces()), Seq("a", "b"))
    assertEquals(shown(listing.listNamespaces(Array("b"))), Seq("b/x", "b/y"))
    assertEquals(shown(listing.listNamespaces(Array("b", "x"))), Nil)
    intercept[NoSuchNamespaceException](listing.listNamespaces(Array("public")))
  }
}
