package io.github.pulsarspark.common

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, ObjectInputStream, ObjectOutputStream}

/** Values as bytes of Java's serialization, for where Spark would serialize them with Kryo, which may require each
  * class to be registered: messages of tasks to the driver, and what is broadcast.
  */
private[pulsarspark] object JavaBytes {

  def apply(value: Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out   = new ObjectOutputStream(bytes)
    try out.writeObject(value)
    finally out.close()
    bytes.toByteArray
  }

  /** The value of bytes that Spark brought from another process of the application. */
  def value[A](bytes: Array[Byte]): A = {
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes))
    try in.readObject().asInstanceOf[A]
    finally in.close()
  }
}
