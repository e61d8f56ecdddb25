package io.github.pulsarspark.errors

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

import org.apache.spark.SparkThrowable

/** An exception of the connector: it has a stable condition name, its SQLSTATE and the parameters of its text. */
trait PulsarError extends SparkThrowable { self: Throwable =>
  def condition: String
  def parameters: Map[String, String]

  override def getCondition: String                       = condition
  override def getErrorClass: String                      = condition
  override def getMessageParameters: JMap[String, String] = parameters.asJava
}
