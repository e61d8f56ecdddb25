package io.github.pulsarspark.errors

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable

/** What every exception of the connector offers: a stable condition name, and the values its text was made from. */
trait PulsarError extends SparkThrowable { self: Throwable =>
  def condition: String
  def parameters: Map[String, String]

  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getMessageParameters: JMap[String, String] = parameters.asJava
}

/** Something went wrong while reading or writing. */
final class PulsarException(val condition: String, message: String, val parameters: Map[String, String], cause: Option[Throwable])
    extends RuntimeException(message, cause.orNull)
    with PulsarError

/** The user's input is wrong. An `IllegalArgumentException`, so that PySpark shows it as one. */
final class PulsarInputException(val condition: String, message: String, val parameters: Map[String, String], cause: Option[Throwable])
    extends IllegalArgumentException(message, cause.orNull)
    with PulsarError
