package io.github.pulsarspark.write.exactlyonce

import java.util.concurrent.{Executors, Future, TimeUnit}

import scala.collection.concurrent.TrieMap

import org.apache.spark.SparkContext
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd, SparkListenerEvent}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.streaming.StreamingQueryListener.QueryTerminatedEvent

/** The coordinators of the streams of this JVM, each until its query ends. */
private[exactlyonce] object SinkCoordinators {
  private final case class Run(id: Option[String], coordinator: SinkCoordinator, tidying: Future[_]) {
    def close(): Unit = {
      tidying.cancel(false)
      coordinator.close()
    }
  }

  private val byQuery  = TrieMap.empty[String, Run]
  private val listened = TrieMap.empty[SparkContext, Unit]

  /** A coordinator for a new run of a query; one of an earlier run ends. */
  def open(settings: SinkSettings, queryId: String): SinkCoordinator = {
    val context = SparkSession.active.sparkContext
    if (listened.putIfAbsent(context, ()).isEmpty) context.addSparkListener(new Endings(context))
    byQuery.remove(queryId).foreach(_.close())
    val result  = SinkCoordinator(settings)
    val tidying = janitor.scheduleWithFixedDelay(() => result.tidy(), TidySeconds, TidySeconds, TimeUnit.SECONDS)
    byQuery.put(queryId, Run(Option(context.getLocalProperty(RunId)), result, tidying))
    result
  }

  /** Spark sends the events of queries to the listeners of their own session, and to these of all. */
  private final class Endings(context: SparkContext) extends SparkListener {
    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = { listened.remove(context); () }

    override def onOtherEvent(event: SparkListenerEvent): Unit = event match {
      case e: QueryTerminatedEvent =>
        // the event of an earlier run may be late
        byQuery.get(e.id.toString).filter(_.id.forall(_ == e.runId.toString)).foreach { run =>
          if (byQuery.remove(e.id.toString, run)) endInBackground(run)
        }
      case _ => ()
    }
  }

  /** The job group of a stream is the id of its run. */
  private val RunId = "spark.jobGroup.id"

  /** The thread of listeners must not wait for a cluster. */
  private def endInBackground(run: Run): Unit = daemon("pulsar-spark: end of a sink", () => run.close()).start()

  /** Interval of aborting late transactions of an idle stream. Until then they hide the messages after them. */
  private val TidySeconds = 60L

  private lazy val janitor = Executors.newSingleThreadScheduledExecutor(daemon("pulsar-spark: idle sinks", _))

  private def daemon(name: String, body: Runnable): Thread = {
    val thread = new Thread(body, name)
    thread.setDaemon(true)
    thread
  }
}
