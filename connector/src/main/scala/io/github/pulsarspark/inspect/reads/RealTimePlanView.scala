package io.github.pulsarspark.inspect.reads

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}

import io.github.pulsarspark.inspect.view.{MetadataRequest, MetadataRow, MetadataView, TakenOptions}
import io.github.pulsarspark.options.MetadataOptions

/** The topic partitions of a stream with these options, by the tasks that follow them in real-time mode. */
private[inspect] object RealTimePlanView extends MetadataView {

  override val name: String = "realtime"

  override val columns: StructType = new StructType()
    .add("task", IntegerType, nullable = true, "number of the task, from 0")
    .add("topic", StringType, nullable = true, "full name of the topic or topic partition")
    .add("after", StringType, nullable = true, "position after which the task begins")
    .add("last", StringType, nullable = true, "position of the last entry with messages; null without messages")
    .add("entries", LongType, nullable = true,
      "backlog in entries; null if it is in several ledgers and `admin.url` is missing")
    .add("bytes", LongType, nullable = true, "estimate of the backlog in stored bytes; null without `admin.url`")

  override val takes: TakenOptions = TakenOptions.OfTopics ++ TakenOptions.of("realTimeTasks", "checkpoint",
    "startingOffsets", "startingTime", "publishTimeSkewMs", "progressSubscription") ++ TakenOptions.OfReaders

  override def check(options: MetadataOptions): Unit = options.requireTopics()

  override def rows(request: MetadataRequest): Iterator[InternalRow] = {
    val options    = request.options
    val checkpoint = Option.when(options.isSet("checkpoint"))(options.checkpoint)
    val tasks      = RealTimePlan.of(options.read, checkpoint, request.fileSystems, request.parallelism)
    for {
      (task, number) <- tasks.iterator.zipWithIndex
      one            <- task
    } yield MetadataRow(number, one.topic, one.after.toString, one.last.map(_.toString), one.entries, one.bytes)
  }
}
