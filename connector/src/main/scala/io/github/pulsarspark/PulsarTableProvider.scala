package io.github.pulsarspark

import java.util.{Map => JMap}

import scala.util.Using

import org.apache.spark.sql.connector.catalog.{SessionConfigSupport, Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

import io.github.pulsarspark.inspect.{MetadataTable, MetadataViews}
import io.github.pulsarspark.options.registry.{Scope, TranslationWarning}
import io.github.pulsarspark.options.{ReadOptions, SessionOptions}
import io.github.pulsarspark.read.plan.DriverSession
import io.github.pulsarspark.schema.columns.ColumnNames

/** The data source `pulsar`: Apache Pulsar topics as tables, for batch and streaming reads and writes. Options may also
  * be set for a whole session, as `spark.datasource.pulsar.<option>`; a read ignores those of writes, and a write those
  * of reads.
  */
class PulsarTableProvider extends TableProvider with DataSourceRegister with SessionConfigSupport {

  override def shortName(): String = SessionOptions.Name

  override def keyPrefix(): String = SessionOptions.Name

  /** Spark calls this for reads and for `CREATE TABLE` without columns: a write brings its own columns. */
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = {
    TableProperties.check(options.asCaseSensitiveMap())
    val raw = TableProperties.rawOptions(options.asCaseSensitiveMap(), SessionOptions.now())
    MetadataViews.of(raw).map(_.columns).getOrElse {
      val read    = ReadOptions(raw, Scope.BatchRead, Scope.StreamRead)
      val columns = Using.resource(DriverSession(read))(_.columns)
      ColumnNames.checkRead(read.topics.shown, columns, SessionOptions.isCaseSensitive)
      columns
    }
  }

  override def supportsExternalMetadata(): Boolean = true

  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table = {
    SourceNames.warnOnce()
    TableProperties.check(properties)
    PlanRedaction.cover(properties)
    val session = SessionOptions.now()
    MetadataViews.of(TableProperties.rawOptions(properties, session)).map { view =>
      val warning = TranslationWarning()
      new MetadataTable(view, s"pulsar ${view.name}", TableProperties.rawOptions(properties, session, _, warning))
    }.getOrElse(new PulsarTable(schema, properties, session))
  }
}
