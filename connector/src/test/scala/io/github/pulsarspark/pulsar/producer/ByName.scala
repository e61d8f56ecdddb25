package io.github.pulsarspark.pulsar.producer

import java.lang.reflect.{InvocationHandler, Proxy}

import scala.reflect.ClassTag

/** An object of an interface of the client, whose methods answer by their names. */
object ByName {
  def apply[A](methods: PartialFunction[String, AnyRef])(implicit face: ClassTag[A]): A = {
    val handler: InvocationHandler = (_, method, _) => methods(method.getName)
    Proxy.newProxyInstance(getClass.getClassLoader, Array(face.runtimeClass), handler).asInstanceOf[A]
  }
}
