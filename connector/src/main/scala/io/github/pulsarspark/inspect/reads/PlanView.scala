package io.github.pulsarspark.inspect.reads

import scala.util.Using

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{ArrayType, IntegerType, LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions
import io.github.pulsarspark.read.plan.{DriverSession, PulsarBatch, PushedFilters}
import io.github.pulsarspark.read.task.ReadContext
import io.github.pulsarspark.storage.segment.{HadoopSettings, Slice}

/** The slices of a batch read with these options, by the tasks that read them. */
private[inspect] object PlanView extends MetadataView {

  override val name: String = "plan"

  override val columns: StructType = new StructType()
    .add("task", IntegerType, nullable = true, "number of the task, from 0")
    .add("topic", StringType, nullable = true, "full name of the topic or topic partition")
    .add("after", StringType, nullable = true, "position before the slice")
    .add("through", StringType, nullable = true, "last position of the slice")
    .add("tier", StringType, nullable = true, "where it is read: `broker`, `bookies` or `tiered`")
    .add("entries", LongType, nullable = true, "entries; null for several ledgers that the broker delivers")
    .add("bytes", LongType, nullable = true, "estimated bytes in storage; null for what the broker delivers")
    .add("reason", StringType, nullable = true, "why the broker delivers it; null if it does not")
    .add("hosts", ArrayType(StringType), nullable = true, "hosts that store the first slice of the task")

  override val takes: TakenOptions = TakenOptions.ofReads

  override def check(options: MetadataOptions): Unit = options.requireTopics()

  override def rows(request: MetadataRequest): Iterator[InternalRow] = {
    val read    = request.options.read
    val columns = Using.resource(DriverSession(read))(_.columns)
    val hadoop  = if (read.mayReadSegments) HadoopSettings.of(request.fileSystems) else HadoopSettings.none
    val tasks   = new PulsarBatch(ReadContext(columns, read, hadoop), columns, PushedFilters.none).tasks
    tasks.iterator.zipWithIndex.flatMap { case (task, i) =>
      task.slices.map(s => row(i, s, task.preferredLocations().toSeq))
    }
  }

  private def row(task: Int, slice: Slice, hosts: Seq[String]) = MetadataRow(
    task,
    slice.topic,
    slice.range.startExclusive.toString,
    slice.range.endInclusive.toString,
    slice.level.name,
    slice.entries,
    slice.segment.map(_.bytes),
    Option.when(slice.segment.isEmpty)(slice.reason),
    hosts
  )
}
