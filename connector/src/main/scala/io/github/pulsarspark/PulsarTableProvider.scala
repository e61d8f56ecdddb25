package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._
import scala.util.Using

import org.apache.spark.sql.connector.catalog.{SessionConfigSupport, Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.options.{ReadOptions, SessionOptions}
import io.github.pulsarspark.pulsar.connection.ClientSettings
import io.github.pulsarspark.read.plan.DriverSession

/** The data source `pulsar`: Apache Pulsar topics as tables, for batch and streaming reads and writes. Options may also
  * be set for a whole session, as `spark.datasource.pulsar.<option>`; a read leaves out those of writes, and a write
  * those of reads.
  */
final class PulsarTableProvider extends TableProvider with DataSourceRegister with SessionConfigSupport {

  override def shortName(): String = SessionOptions.Name

  override def keyPrefix(): String = SessionOptions.Name

  /** Called for reads and for `CREATE TABLE` without columns: a write brings its own columns. */
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = {
    val stored  = TableProperties.storedOptions(options.asCaseSensitiveMap())
    val query   = if (stored.isDefined) Map.empty[String, String] else options.asCaseSensitiveMap().asScala.toMap
    val checked = new RawOptions(query, ClientSettings.fields, SessionOptions.now(), stored)
      .check(Scope.BatchRead, Scope.StreamRead)
    val read = ReadOptions(checked)
    Using.resource(DriverSession(read))(_.columns(read.metadataColumns))
  }

  override def supportsExternalMetadata(): Boolean = true

  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table = {
    PlanRedaction.cover(properties)
    new PulsarTable(schema, properties, SessionOptions.now())
  }
}
