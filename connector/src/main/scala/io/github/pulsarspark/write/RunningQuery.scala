package io.github.pulsarspark.write

import java.util.{Map => JMap, UUID}

import scala.util.Try

import org.apache.spark.sql.SparkSession

/** The streaming query that runs on the current thread. Spark shows its trigger to no sink, so this looks at the query.
  */
private[write] object RunningQuery {

  /** True in Spark's real-time mode. False also where Spark does not show its queries. */
  def isRealTime: Boolean = Try {
    val session = SparkSession.active
    val id      = UUID.fromString(session.sparkContext.getLocalProperty("sql.streaming.queryId"))
    val shared  = session.getClass.getMethod("sharedState").invoke(session)
    val running = shared.getClass.getMethod("activeStreamingQueries").invoke(shared).asInstanceOf[JMap[UUID, AnyRef]]
    val query   = running.get(id)
    query.getClass.getMethod("trigger").invoke(query).getClass.getSimpleName.startsWith("RealTimeTrigger")
  }.getOrElse(false)
}
