package io.github.pulsarspark.catalog

import java.util.{Map => JMap, Set => JSet}

import org.apache.spark.sql.connector.catalog.{StagedTable, SupportsWrite, TableCapability}
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, SupportsTruncate, Write, WriteBuilder}
import org.apache.spark.sql.types.StructType

import io.github.pulsarspark.PulsarTable

/** A topic that CREATE TABLE AS SELECT made, while its rows are written. Without staging Spark would drop the table of
  * that name after a failure, whoever made it.
  *
  * @param producerPrefix
  *   start of the names of the producers of its rows
  * @param undo
  *   deletes the topic
  */
private[catalog] final class StagedTopic(table: PulsarTable, producerPrefix: String, undo: () => Unit)
    extends StagedTable
    with SupportsWrite {

  override def name(): String                        = table.name()
  override def schema(): StructType                  = table.schema()
  override def capabilities(): JSet[TableCapability] = table.capabilities()
  override def properties(): JMap[String, String]    = table.properties()
  override def commitStagedChanges(): Unit           = ()
  override def abortStagedChanges(): Unit            = undo()
  override def toString: String                      = table.toString

  /** Takes mode `overwrite` as well: a topic that was made a moment ago has nothing to replace. */
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new SupportsTruncate {
    private val rows                      = table.newWriteBuilder(info, Some(producerPrefix))
    override def truncate(): WriteBuilder = this
    override def build(): Write           = rows.build()
  }
}
