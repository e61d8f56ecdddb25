package io.github.pulsarspark.options.registry

/** A value that must not be shown: its text is asterisks. Only the place that passes it to Pulsar calls `reveal`.
  */
final class Secret private (value: String) extends Serializable {
  private[pulsarspark] def reveal: String = value

  override def toString: String            = Secret.Mask
  override def hashCode: Int               = value.hashCode
  override def equals(other: Any): Boolean = other match {
    case that: Secret => that.reveal == value
    case _            => false
  }
}

object Secret {
  val Mask                         = "***"
  def apply(value: String): Secret = new Secret(value)
}
