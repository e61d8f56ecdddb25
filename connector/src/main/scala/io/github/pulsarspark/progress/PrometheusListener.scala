package io.github.pulsarspark.progress

import org.apache.spark.SparkConf
import org.apache.spark.sql.streaming.StreamingQueryListener

import io.github.pulsarspark.errors.Conditions

/** Serves the progress of all streaming queries with Pulsar sources for Prometheus, by settings alone:
  *
  * {{{
  * spark.sql.streaming.streamingQueryListeners  io.github.pulsarspark.progress.PrometheusListener
  * spark.pulsar.metrics.port                    9464
  * spark.pulsar.metrics.host                    127.0.0.1
  * }}}
  *
  * Spark makes one for each session; they share the address `http://host:port/metrics`.
  */
final class PrometheusListener(conf: SparkConf) extends StreamingQueryListener {
  import PrometheusListener._

  private val endpoint = MetricsEndpoint.shared(conf.get(Host, "127.0.0.1"), port(conf.get(Port, "9464")))

  override def onQueryStarted(event: StreamingQueryListener.QueryStartedEvent): Unit = ()

  override def onQueryProgress(event: StreamingQueryListener.QueryProgressEvent): Unit =
    endpoint.put(event.progress.runId, QueryReport.of(event.progress))

  override def onQueryTerminated(event: StreamingQueryListener.QueryTerminatedEvent): Unit =
    endpoint.remove(event.runId)
}

private object PrometheusListener {
  private val Host = "spark.pulsar.metrics.host"
  private val Port = "spark.pulsar.metrics.port"

  private def port(text: String): Int = text.toIntOption.filter(0 to 65535 contains _).getOrElse {
    throw Conditions.MetricsAddress(address = s"port $text", cause = "a port is a number from 0 to 65535").exception
  }
}
