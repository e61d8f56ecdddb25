package io.github.pulsarspark.common

import java.util.{Map => JMap, UUID}

import scala.util.Try

import org.apache.spark.sql.SparkSession

/** The streaming query that runs on the current thread. Spark shows its sources and sinks neither the trigger nor the
  * options of the writer, so this looks at the query itself. Every answer is false where Spark does not show its
  * queries.
  */
private[pulsarspark] object RunningQuery {

  /** True in Spark's real-time mode. */
  def isRealTime: Boolean = Try {
    query.getClass.getMethod("trigger").invoke(query).getClass.getSimpleName.startsWith("RealTimeTrigger")
  }.getOrElse(false)

  /** True if the query commits micro-batches later than it plans the next one (asynchronous progress tracking). */
  def commitsLater: Boolean = Try(query.getClass.getSimpleName.startsWith("AsyncProgressTracking")).getOrElse(false)

  private def query: AnyRef = {
    val session = SparkSession.active
    val id      = UUID.fromString(session.sparkContext.getLocalProperty("sql.streaming.queryId"))
    val shared  = session.getClass.getMethod("sharedState").invoke(session)
    val running = shared.getClass.getMethod("activeStreamingQueries").invoke(shared).asInstanceOf[JMap[UUID, AnyRef]]
    running.get(id)
  }
}
