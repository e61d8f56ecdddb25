package io.github.pulsarspark.read.stream

import scala.collection.mutable
import scala.concurrent.duration._
import scala.concurrent.{Await, ExecutionContext, Future}

import org.apache.spark.sql.connector.read.streaming.PartitionOffset
import org.apache.spark.unsafe.types.UTF8String

import io.github.pulsarspark.position.PulsarOffset

/** Streams in real-time mode, whose batches end when a test says so. Messages are texts that begin with the name of
  * their partition.
  */
abstract class LiveSuite extends StreamSuite {

  protected implicit val threads: ExecutionContext = ExecutionContext.global

  override val munitTimeout: Duration = 3.minutes

  private val counting = new Object // Spark adds the counts of one task after the other

  private[stream] def live(topic: StreamCase, options: (String, String)*): StreamCase#Run = {
    val run = topic.start(options: _*)
    run.source.prepareForRealTimeMode()
    run
  }

  /** Reads one batch with a thread for each task; returns its end.
    *
    * @param planned
    *   is called between the plan and its tasks
    */
  private[stream] def batch(
      run: StreamCase#Run,
      from: PulsarOffset,
      micros: Long,
      rows: Map[String, mutable.Buffer[String]],
      planned: () => Unit = () => ()
  ): PulsarOffset = {
    val tasks = run.source.planInputPartitions(from)
    planned()
    val deadline = System.nanoTime() + micros.micros.toNanos
    val ends     = tasks.toSeq.map { task =>
      Future[PartitionOffset] {
        val reader = run.source.tailsReaders.reader(task)
        try {
          // Spark looks at the time after each row
          while (System.nanoTime() < deadline && reader.next(deadline)) {
            val text = UTF8String.fromBytes(reader.row.getBinary(0)).toString
            rows(text.takeWhile(_ != ' ')) += text // a partition is in one task
          }
          reader.finish()
        } finally counting.synchronized(reader.close())
      }
    }
    run.source.mergeOffsets(ends.map(Await.result(_, 1.minute)).toArray) match {
      case own: PulsarOffset => own
      case other             => throw new AssertionError(other)
    }
  }
}
