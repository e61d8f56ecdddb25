package io.github.pulsarspark.write.exactlyonce

import scala.collection.concurrent.TrieMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerEvent}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** The coordinators of the streams of this JVM, each until its query ends. */
private[exactlyonce] object SinkCoordinators {
  private final case class Run(id: Option[String], coordinator: SinkCoordinator)

  private val byQuery  = TrieMap.empty[String, Run]
  private val listened = TrieMap.empty[SparkContext, Unit]

  /** A coordinator for a new run of a query; one of an earlier run ends. */
  def open(settings: SinkSettings, queryId: String): SinkCoordinator = {
    val context = SparkSession.active.sparkContext
    if (listened.putIfAbsent(context, ()).isEmpty) context.addSparkListener(new Endings(context))
    byQuery.remove(queryId).foreach(_.coordinator.close())
    val result = SinkCoordinator(settings)
    byQuery.put(queryId, Run(Option(context.getLocalProperty(RunId)), result))
    result
  }

  /** Spark sends the events of queries to the listeners of their own session, and to these of all. */
  private final class Endings(context: SparkContext) extends SparkListener {
    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = { listened.remove(context); () }

    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case e: QueryTerminatedEvent =>
        // the event of an earlier run may be late
        byQuery.get(e.id.toString).filter(_.id.forall(_ == e.runId.toString)).foreach { run =>
          if (byQuery.remove(e.id.toString, run)) endInBackground(run.coordinator)
        }
      case _ => ()
    }
  }

  /** The job group of a stream is the id of its run. */
  private val RunId = "spark.jobGroup.id"

  /** The thread of listeners must not wait for a cluster. */
  private def endInBackground(coordinator: SinkCoordinator): Unit = {
    val thread = new Thread(() => coordinator.close(), "pulsar-spark: end of a sink")
    thread.setDaemon(true)
    thread.start()
  }
}
