package io.github.pulsarspark.catalog

import java.util.{Collections, Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkEnv
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.analysis.{NoSuchNamespaceException, NoSuchTableException}
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.SessionOptions
import io.github.pulsarspark.options.registry.SettingSecrets
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.schema.columns.RowColumns

/** A Pulsar cluster as a catalog of Spark: `spark.sql.catalog.<name>=io.github.pulsarspark.catalog.PulsarCatalog`, with
  * options as `spark.sql.catalog.<name>.<option>`. Tenants and their namespaces are namespaces, topics are tables. It
  * keeps nothing of the cluster. Options of the session (`spark.datasource.pulsar.*`) are not for its tables, so that
  * no credentials get to another cluster.
  */
final class PulsarCatalog extends StagingTableCatalog with SupportsNamespaces {

  private var opened: Option[OpenCatalog] = None

  /** Checks the options; sends no request. */
  override def initialize(name: String, options: CaseInsensitiveStringMap): Unit = {
    val set = options.asCaseSensitiveMap().asScala.toMap
    opened = Some(OpenCatalog(CatalogOptions(name, set, ClientSettings.fields)))
    SettingSecrets.check(SparkEnv.get.conf.getOption, s"spark.sql.catalog.$name.", set)
  }

  private def open: OpenCatalog = opened.getOrElse(throw new IllegalStateException("the catalog is not initialized"))

  override def name(): String = open.options.catalog

  override def defaultNamespace(): Array[String] = Array(open.names.default._1, open.names.default._2)

  override def listTables(namespace: Array[String]): Array[Identifier] = open.namespaces.tables(namespace)

  override def loadTable(ident: Identifier): Table = open.tables.load(ident)

  /** The table for a statement that does this to its rows. */
  override def loadTable(ident: Identifier, privileges: JSet[TableWritePrivilege]): Table = {
    val table = loadTable(ident)
    RefusedStatements.check(ident, table, privileges.asScala.toSet)
    table
  }

  override def loadTable(ident: Identifier, version: String): Table =
    open.tables.load(ident, Some(AsOf.Version(version)))

  override def loadTable(ident: Identifier, timestamp: Long): Table =
    open.tables.load(ident, Some(AsOf.time(timestamp, ident.toString, System.currentTimeMillis())))

  override def tableExists(ident: Identifier): Boolean = open.tables.exists(ident)

  override def createTable(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String]
  ): Table = {
    create(ident, columns, partitions, properties, isFromRows = false)
    loadTable(ident)
  }

  override def stageCreate(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String]
  ): StagedTable = {
    val made = create(ident, columns, partitions, properties, isFromRows = true)
    try {
      val table = open.tables.table(made.topic).getOrElse(throw new NoSuchTableException(ident))
      new StagedTopic(table, made.producerPrefix, () => open.changes.undo(made))
    } catch {
      case e: Throwable =>
        open.changes.undo(made)
        throw e
    }
  }

  override def stageReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String]
  ): StagedTable = throw replacing(ident)

  override def stageCreateOrReplace(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String]
  ): StagedTable =
    if (tableExists(ident)) throw replacing(ident) else stageCreate(ident, columns, partitions, properties)

  private def create(
      ident: Identifier,
      columns: Array[Column],
      partitions: Array[Transform],
      properties: JMap[String, String],
      isFromRows: Boolean
  ): CreatedTopic = {
    val topic      = open.names.created(ident.namespace.toSeq, ident.name)
    val fields     = StructType(columns.map(field))
    val definition = TopicDefinition(
      topic,
      if (isFromRows) ofRows(fields, topic) else fields,
      partitions.toSeq.map(_.describe),
      properties.asScala.toMap,
      SparkSession.active.conf.get("spark.sql.sources.default"),
      isFromRows
    )
    open.changes.create(ident, topic, definition)
  }

  private def ofRows(columns: StructType, topic: String): StructType = {
    val named = RowColumns(columns, SessionOptions.isCaseSensitive)
    RowColumns.checkNew(named, s"topic $topic")
    named
  }

  private def field(column: Column): StructField = {
    val field = StructField(column.name, column.dataType, column.nullable)
    Option(column.comment).fold(field)(field.withComment)
  }

  override def alterTable(ident: Identifier, changes: TableChange*): Table = {
    val topic = open.names.created(ident.namespace.toSeq, ident.name)
    open.changes.alter(ident, topic, Alteration(topic, changes))
    loadTable(ident)
  }

  override def dropTable(ident: Identifier): Boolean =
    open.changes.drop(open.names.created(ident.namespace.toSeq, ident.name))

  override def renameTable(from: Identifier, to: Identifier): Unit =
    throw refused("RENAME", "a topic keeps its name", "Create a table of the new name from the rows of this one")

  override def listNamespaces(): Array[Array[String]] = open.namespaces.of(Array.empty)

  override def listNamespaces(namespace: Array[String]): Array[Array[String]] = open.namespaces.of(namespace)

  /** Returns nothing for any legal name, without a request: Spark calls this several times for each CREATE. The next
    * call shows whether the namespace exists.
    */
  override def loadNamespaceMetadata(namespace: Array[String]): JMap[String, String] =
    open.names.namespace(namespace.toSeq).fold(throw new NoSuchNamespaceException(namespace))(_ =>
      Collections.emptyMap()
    )

  override def createNamespace(namespace: Array[String], metadata: JMap[String, String]): Unit =
    throw ofNamespaces("CREATE NAMESPACE")

  override def alterNamespace(namespace: Array[String], changes: NamespaceChange*): Unit =
    throw ofNamespaces("ALTER NAMESPACE")

  override def dropNamespace(namespace: Array[String], cascade: Boolean): Boolean =
    throw ofNamespaces("DROP NAMESPACE")

  private def ofNamespaces(statement: String) =
    refused(statement, "namespaces belong to who administrates the cluster", "Use pulsar-admin")

  private def replacing(ident: Identifier) =
    refused(s"Replacing table $ident", "the messages of a topic cannot be replaced", "Append, or create another table")

  private def refused(statement: String, why: String, instead: String) =
    Conditions.CatalogStatement(statement = statement, why = why, instead = instead).exception
}

/** A catalog with its options. */
private[catalog] final case class OpenCatalog(options: CatalogOptions) {
  val names: CatalogNames           = new CatalogNames(options.catalog, options.namespace, TopicTables.Views)
  val tables: TopicTables           = new TopicTables(options, names)
  val changes: TopicChanges         = new TopicChanges(options)
  val namespaces: CatalogNamespaces = new CatalogNamespaces(options, names)
}
