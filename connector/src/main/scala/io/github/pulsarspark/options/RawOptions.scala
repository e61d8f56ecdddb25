package io.github.pulsarspark.options

import java.util.{Map => JMap}

import scala.jdk.CollectionConverters._

/** Options as the user gave them, not yet checked. Has no value in its text.
  *
  * @param fieldsOf
  *   the names of the Pulsar client's own settings under a prefix
  */
private[pulsarspark] final class RawOptions(raw: JMap[String, String], fieldsOf: String => Seq[String]) {

  private val values = raw.asScala.toMap

  def get(key: String): Option[String] = values.collectFirst { case (k, v) if k.equalsIgnoreCase(key) => v }

  def check(scopes: Scope*): CheckedOptions = CheckedOptions(values, scopes, fieldsOf)

  override def toString: String = values.keys.toSeq.sorted.mkString("RawOptions(", ", ", ")")
}
