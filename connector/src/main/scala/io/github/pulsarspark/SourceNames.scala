package io.github.pulsarspark

import java.util.concurrent.atomic.AtomicBoolean
import java.util.{ServiceConfigurationError, ServiceLoader}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.slf4j.LoggerFactory

import org.apache.spark.sql.sources.DataSourceRegister

import io.github.pulsarspark.options.SessionOptions

/** Other data sources named `pulsar` on the class path. Spark selects one by name without a call to the others: the
  * only one whose package is below `org.apache.spark`, else none.
  */
object SourceNames {

  /** The short name of this connector alone. */
  private[pulsarspark] val Unique = "pulsar-spark"

  private val Own      = classOf[PulsarTableProvider].getName
  private val log      = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))
  private val reported = new AtomicBoolean

  /** The warning of this JVM on the first call, if it has one; empty on later calls. For Python, which shows it. */
  def firstWarning(): String =
    if (reported.getAndSet(true)) "" else warning(Thread.currentThread.getContextClassLoader).getOrElse("")

  /** Logs the warning of this JVM, unless it was reported before. */
  private[pulsarspark] def warnOnce(): Unit = Some(firstWarning()).filter(_.nonEmpty).foreach(log.warn(_))

  /** Returns a warning for users of `format("pulsar")`; None if no other connector has that name.
    *
    * @param loader
    *   the class loader that Spark looks up data sources with
    */
  private[pulsarspark] def warning(loader: ClassLoader): Option[String] =
    try {
      val named  = ServiceLoader.load(classOf[DataSourceRegister], loader).asScala.toSeq.filter(isNamed)
      val others = named.filter(_.getClass.getName != Own).sortBy(_.getClass.getName)
      Option.when(others.nonEmpty)(text(others))
    } catch {
      case broken: ServiceConfigurationError =>
        Some(
          s"A data source on the class path cannot be loaded, so Spark finds no data source at all: " +
            s"${broken.getMessage}. Remove the jar of that class."
        )
    }

  /** A source that throws has no name here. Spark reports it by itself. */
  private def isNamed(source: DataSourceRegister): Boolean =
    Try(source.shortName()).toOption.exists(_.equalsIgnoreCase(SessionOptions.Name))

  private def text(others: Seq[DataSourceRegister]): String = {
    val internal = others.map(_.getClass).filter(_.getName.startsWith("org.apache.spark"))
    val format   = s"""format("${SessionOptions.Name}")"""
    val outcome  = if (internal.size == 1) s"$format runs ${internal.head.getName}" else s"$format fails"
    s"Other data sources on the class path are named `${SessionOptions.Name}` too: " +
      s"${others.map(o => s"${o.getClass.getName} (${jar(o.getClass)})").mkString(", ")}. $outcome. " +
      s"""Use format("$Unique") or format("$Own") for this connector, or remove the other jar."""
  }

  private def jar(source: Class[_]): String =
    Option(source.getProtectionDomain.getCodeSource).flatMap(c => Option(c.getLocation)).fold("unknown jar")(_.toString)
}
