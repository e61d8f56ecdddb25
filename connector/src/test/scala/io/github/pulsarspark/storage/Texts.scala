package io.github.pulsarspark.storage

import io.github.pulsarspark.pulsar.admin.JsonFields

/** Fields of an answer. */
private[storage] final case class Texts(values: (String, Any)*) extends JsonFields {
  private val texts = values.map { case (name, value) => name -> value.toString }.toMap

  override def long(name: String): Long           = texts.get(name).fold(0L)(_.toLong)
  override def flag(name: String): Boolean        = texts.get(name).contains("true")
  override def text(name: String): Option[String] = texts.get(name).filter(_.nonEmpty)
}
