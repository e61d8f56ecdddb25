package org.apache.spark.sql.pulsar

import java.util.UUID

import org.apache.spark.SparkContext
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** Tells the listeners of a context what Spark tells them of streaming queries. */
object QueryEvents {

  /** The end of a run of a query; returns when every listener has seen it. */
  def terminated(context: SparkContext, query: UUID, run: UUID): Unit = {
    context.listenerBus.post(new QueryTerminatedEvent(query, run, None, None))
    context.listenerBus.waitUntilEmpty()
  }
}
