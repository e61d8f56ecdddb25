package io.github.pulsarspark.read.stream

import java.util.{Map => JMap, UUID}

import scala.util.Try

import org.apache.spark.sql.SparkSession

/** Detects a query that commits micro-batches later than it plans the next one (asynchronous progress tracking). That
  * is an option of the writer, which Spark shows to no source, so this looks at the class of the query that runs on the
  * current thread.
  */
private[stream] object AsyncProgress {

  /** False also where Spark does not show its queries. */
  def isOn(session: SparkSession): Boolean = Try {
    val id      = UUID.fromString(session.sparkContext.getLocalProperty("sql.streaming.queryId"))
    val shared  = session.getClass.getMethod("sharedState").invoke(session)
    val running = shared.getClass.getMethod("activeStreamingQueries").invoke(shared).asInstanceOf[JMap[UUID, AnyRef]]
    running.get(id).getClass.getSimpleName.startsWith("AsyncProgressTracking")
  }.getOrElse(false)
}
