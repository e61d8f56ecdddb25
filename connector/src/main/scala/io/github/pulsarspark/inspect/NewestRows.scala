package io.github.pulsarspark.inspect

import java.io.StringWriter

import scala.collection.mutable
import scala.math.Ordering.Implicits.seqOrdering
import scala.util.Using

import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import com.fasterxml.jackson.databind.{DeserializationFeature, ObjectMapper}
import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.json.{JSONOptions, JacksonGenerator}
import org.apache.spark.sql.types.{IntegerType, StructType}

import io.github.pulsarspark.common.BlockingParallel
import io.github.pulsarspark.options.ReadOptions
import io.github.pulsarspark.options.registry.{RawOptions, Scope}
import io.github.pulsarspark.read.plan.{DriverSession, PulsarBatch, PushedFilters}
import io.github.pulsarspark.read.task.ReadContext
import io.github.pulsarspark.schema.columns.MetadataColumns
import io.github.pulsarspark.storage.segment.HadoopSettings

/** Reads messages in this process, by the classes of a batch read: so the values are those that a query returns. */
private[inspect] object NewestRows {

  /** Name of the table of messages, as in a catalog. */
  val Name = "messages"

  private val Threads = 8

  private val mapper =
    new ObjectMapper().configure(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS, true)

  /** The newest rows of a read, the newest first, with all metadata columns. Values are as `to_json` has them.
    *
    * @param limit
    *   the most rows
    */
  def apply(options: RawOptions, limit: Int): ObjectNode = {
    val read    = ReadOptions(options, Scope.BatchRead).copy(metadataColumns = Some("all"))
    val columns = Using.resource(DriverSession(read))(_.columns)
    val hadoop  = if (read.mayReadSegments) HadoopSettings.of(new Configuration()) else HadoopSettings.none
    val batch   = new PulsarBatch(ReadContext(columns, read, hadoop), columns, PushedFilters.none)
    val newest  = new Newest(limit)
    val factory = batch.createReaderFactory()
    val threads = new BlockingParallel("pulsar-spark-peek", Threads)
    try threads.run(batch.tasks.map { task => () =>
        val rows = new RowWriter(columns)
        Using.resource(factory.createReader(task)) { reader =>
          while (reader.next()) newest.add(rows.place(reader.get()), rows.values(reader.get()))
        }
      })
    finally threads.stop(0): Unit
    RowsJson.table(columns, newest.result)
  }

  /** Rows with the greatest places. */
  private final class Newest(limit: Int) {
    private val kept =
      mutable.PriorityQueue.empty[(Seq[Long], ArrayNode)](Ordering.by[(Seq[Long], ArrayNode), Seq[Long]](_._1).reverse)

    def add(place: Seq[Long], values: ArrayNode): Unit = synchronized {
      kept.enqueue(place -> values)
      if (kept.size > limit) kept.dequeue(): Unit
    }

    def result: Seq[ArrayNode] = kept.dequeueAll[(Seq[Long], ArrayNode)].map(_._2).reverse
  }

  /** Writes the rows of one task. */
  private final class RowWriter(columns: StructType) {
    private val text      = new StringWriter
    private val generator =
      new JacksonGenerator(columns, text, new JSONOptions(Map("ignoreNullFields" -> "false"), "UTC"))

    /** The columns by which messages are in order; without those whose names fields of the topic have. */
    private val order =
      Seq(MetadataColumns.PublishTime, MetadataColumns.LedgerId, MetadataColumns.EntryId, MetadataColumns.BatchIndex)
        .map(m => columns.fieldIndex(m.name) -> m.dataType).filter { case (i, kind) => columns(i).dataType == kind }

    def place(row: InternalRow): Seq[Long] = order.map {
      case (i, _) if row.isNullAt(i) => -1L
      case (i, IntegerType)          => row.getInt(i).toLong
      case (i, _)                    => row.getLong(i)
    }

    def values(row: InternalRow): ArrayNode = {
      text.getBuffer.setLength(0)
      generator.write(row)
      generator.flush()
      val fields = mapper.readTree(text.toString)
      val result = mapper.createArrayNode()
      columns.fieldNames.foreach(name => result.add(fields.get(name)))
      result
    }
  }
}
